import { isStatusError, type KubeObject } from '@asterism/machinery';
import type { TestRegistry } from '../../compose/testing/test-registry.ts';

/** `field: message` of each cause that a new object is refused for, in order; none where it is taken. For tests. */
export async function faultsOf(t: TestRegistry, place: string, object: KubeObject): Promise<string[]> {
  return causesOf(t.create(place, { metadata: { name: 'x' }, ...object }, { dryRun: true }));
}

/** The same for a merge patch of the object `name` in the namespace `default`. */
export async function patchFaultsOf(
  t: TestRegistry,
  place: string,
  { name = 'x', body, subresource }: { name?: string; body: object; subresource?: string },
): Promise<string[]> {
  const resource = t.resource(place);
  const ref = { name, ...(resource.type.namespaced ? { namespace: 'default' } : {}) };
  return causesOf(t.registry.patch(resource, ref, { type: 'merge', body }, t.context({ subresource })));
}

async function causesOf(write: Promise<unknown>): Promise<string[]> {
  try {
    await write;
    return [];
  } catch (error) {
    if (!isStatusError(error) || error.code !== 422) throw error;
    return (error.status.details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);
  }
}
