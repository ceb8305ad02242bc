import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { NAMESPACE, openTestRegistry, type TestRegistry } from '../compose/testing/test-registry.ts';
import type { AdmissionPhase, AdmissionStep } from '../contract/admission-step.ts';

const PHASES: readonly AdmissionPhase[] = ['mutate', 'check', 'validate'];
const PLACE = 'v1/services';
const SERVICE = { metadata: { name: 'web', namespace: 'default' }, spec: { ports: [{ port: 80 }] } };

/** A registry that notes every admission step, with what the step can see of the others. */
async function openNoting(seen: string[]): Promise<TestRegistry> {
  const admission: AdmissionStep[] = PHASES.map((phase) => ({
    phase,
    async admit({ operation, resource, object }) {
      if (resource.type.resource !== 'services') return object;
      const { uid = '', managedFields = [] } = object?.metadata ?? {};
      const owned = managedFields.length > 0 ? ' owned' : '';
      seen.push(`${operation} ${phase}${owned}${uid === '' ? '' : ' prepared'}`);
      return object;
    },
  }));
  return await openTestRegistry({ admission });
}

describe('the order of a write', () => {
  const writes: readonly [name: string, write: (on: TestRegistry) => Promise<unknown>, order: readonly string[]][] = [
    [
      'a creation is tracked, mutated, prepared, checked and admitted',
      (on) => on.create(PLACE, { ...SERVICE, metadata: { ...SERVICE.metadata, name: 'new' } }),
      ['CREATE mutate owned', 'CREATE check owned prepared', 'CREATE validate owned prepared'],
    ],
    [
      'an update has the same order',
      (on) => on.registry.update(on.resource(PLACE), ref, changed({ a: 'b' }), on.context(NAMESPACE)),
      ['UPDATE mutate owned prepared', 'UPDATE check owned prepared', 'UPDATE validate owned prepared'],
    ],
    [
      'a patch has the same order',
      (on) => on.registry.patch(on.resource(PLACE), ref, { type: 'merge', body: changed({ c: 'd' }) }, on.context()),
      ['UPDATE mutate owned prepared', 'UPDATE check owned prepared', 'UPDATE validate owned prepared'],
    ],
    [
      'an invalid object is checked and not admitted',
      (on) => on.registry.update(on.resource(PLACE), ref, { ...SERVICE, spec: {} }, on.context()).catch(() => {}),
      ['UPDATE mutate owned prepared', 'UPDATE check owned prepared'],
    ],
    [
      'a deletion has the same order without an object',
      (on) => on.registry.delete(on.resource(PLACE), ref, {}, on.context()),
      ['DELETE mutate', 'DELETE check', 'DELETE validate'],
    ],
  ];
  const ref = { namespace: 'default', name: 'web' };
  const changed = (annotations: Record<string, string>): KubeObject => ({
    ...SERVICE,
    metadata: { ...SERVICE.metadata, annotations },
  });
  for (const [name, write, order] of writes) {
    test(name, async () => {
      const seen: string[] = [];
      await using on = await openNoting(seen);
      await on.create(PLACE, SERVICE);
      seen.length = 0;
      await write(on);
      assert.deepEqual(seen, order);
    });
  }
});
