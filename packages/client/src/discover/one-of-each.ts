import type { DiscoveredResource } from './discovery.ts';

const known = new Map<string, WeakRef<DiscoveredResource>>();
const forgotten = new FinalizationRegistry<string>((text) => {
  if (known.get(text)?.deref() === undefined) known.delete(text);
});

/**
 * Equal resources become one frozen object, whoever discovered them: a thousand clusters serve much the same hundred kinds, which
 * take 40 KB for each.
 */
export function oneOfEach(resources: readonly DiscoveredResource[]): DiscoveredResource[] {
  return resources.map((resource) => {
    const text = JSON.stringify(resource);
    const same = known.get(text)?.deref();
    if (same) return same;
    known.set(text, new WeakRef(Object.freeze(resource)));
    forgotten.register(resource, text);
    return resource;
  });
}
