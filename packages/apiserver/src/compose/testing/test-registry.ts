import assert from 'node:assert/strict';
import { isStatusError, type KubeObject, type StatusReason } from '@asterism/machinery';
import type { UserInfo } from '../../contract/user-info.ts';
import { createMemoryStorage } from '../../storage/memory-storage.ts';
import { createRegistry, type RegistryOptions } from '../create-registry.ts';
import type { Registry, WatchItem, WatchStream, WriteContext } from '../../registry/registry.ts';
import type { Stored } from '../../contract/stored.ts';
import type { DeleteOptions } from '../../contract/delete-options.ts';
import type { ServedResource } from '../../contract/served-resource.ts';

/** Where its objects are, unless a test says otherwise. */
export const NAMESPACE = { namespace: 'default' };

/** A Deployment of which nothing is said that has a default. */
export const WEB = {
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx:1.27' }] } },
  },
};

export const TEST_USER: UserInfo = { username: 'tester', groups: ['system:masters'] };

/** No controller makes service accounts here. */
const WITHOUT_ACCOUNTS = { disable: ['ServiceAccount'] };

/** A registry for tests, with the namespace `default` and shorthands; without the plugin `ServiceAccount`. */
export interface TestRegistry extends AsyncDisposable {
  registry: Registry;
  /** By group, version and resource: `apps/v1/deployments`, `v1/pods`. Fails where it is not served. */
  resource(place: string): ServedResource;
  context(options?: Partial<WriteContext>): WriteContext;
  /** Creates in `default`, or in the namespace that the object says. */
  create(place: string, object: KubeObject, options?: Partial<WriteContext>): Promise<KubeObject>;
  get(place: string, name: string, namespace?: string): Promise<KubeObject>;
  warnings: string[];
}

export async function openTestRegistry(options: Partial<RegistryOptions> = {}): Promise<TestRegistry> {
  const warnings: string[] = [];
  const registry = await createRegistry({
    storage: createMemoryStorage(),
    admissionPlugins: WITHOUT_ACCOUNTS,
    ...options,
  });
  const resource = (place: string): ServedResource => {
    const parts = place.split('/');
    const [name = '', version = '', group = ''] = parts.toReversed();
    const found = registry.find(group, version, name);
    if (!found) throw new Error(`${place} is not served`);
    return found;
  };
  const context = (more: Partial<WriteContext> = {}): WriteContext => ({
    user: TEST_USER,
    fieldManager: 'test',
    warn: (text) => warnings.push(text),
    ...more,
  });
  const namespaceOf = (place: string, namespace?: string): string | undefined =>
    resource(place).type.namespaced ? (namespace ?? 'default') : undefined;
  await registry
    .create(resource('v1/namespaces'), { metadata: { name: 'default' } }, context())
    .catch((error: unknown) => {
      if (!(error instanceof Error && error.message.includes('already exists'))) throw error;
    });
  return {
    registry,
    resource,
    context,
    warnings,
    async create(place, object, more = {}) {
      const namespace = namespaceOf(place, object.metadata?.namespace);
      return (await registry.create(resource(place), object, context({ namespace, ...more }))).parse();
    },
    get: async (place, name, namespace) =>
      (await registry.get(resource(place), { namespace: namespaceOf(place, namespace), name })).parse(),
    [Symbol.asyncDispose]: () => registry.close(),
  };
}

/** The next `count` events of a watch, as `TYPE name`. */
export async function nextEvents(stream: WatchStream, count: number): Promise<string[]> {
  const events: string[] = [];
  const iterator = stream[Symbol.asyncIterator]();
  while (events.length < count) {
    const next = await iterator.next();
    if (next.done) break;
    events.push(describeItem(next.value));
  }
  return events;
}

export function describeItem({ type, object }: WatchItem): string {
  return `${type} ${object.parse().metadata?.name ?? ''}`.trim();
}

export function names(items: readonly Stored[]): string[] {
  return items.map((item) => item.parse().metadata?.name ?? '');
}

/** The promise rejects with a Status of that code, and of those words and that reason where they are given. */
export async function refused(
  promise: Promise<unknown>,
  code: number,
  message?: RegExp | string,
  reason?: StatusReason,
): Promise<void> {
  const error = await promise.then(
    () => assert.fail('it was not refused'),
    (caught: unknown) => caught,
  );
  assert.ok(isStatusError(error), String(error));
  assert.equal(error.code, code, error.message);
  if (typeof message === 'string') assert.equal(error.message, message);
  else if (message) assert.match(error.message, message);
  if (reason) assert.equal(error.reason, reason);
}

/** Patches an object of `default`. */
export function patch(
  t: TestRegistry,
  place: string,
  name: string,
  body: unknown,
  type: 'json' | 'merge' | 'strategic' = 'merge',
  options = {},
) {
  return t.registry.patch(t.resource(place), { ...NAMESPACE, name }, { type, body }, t.context(options));
}

/** Deletes an object of `default`, or one that is of no namespace. */
export function remove(t: TestRegistry, place: string, name: string, options: DeleteOptions = {}) {
  const resource = t.resource(place);
  const ref = resource.type.namespaced ? { ...NAMESPACE, name } : { name };
  return t.registry.delete(resource, ref, options, t.context());
}
