import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CustomResourceDefinition } from '@asterism/machinery';
import { missingKinds, outlineDefinition } from './missing-kinds.ts';

const definition = (plural: string, established: 'True' | 'False'): CustomResourceDefinition => ({
  metadata: { name: `${plural}.example.com`, annotations: { large: 'x'.repeat(1000) } },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural, kind: 'Any' },
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      { name: 'v1alpha1', served: false, storage: false, schema: { openAPIV3Schema: { type: 'object' } } },
    ],
  },
  status: {
    conditions: [
      { type: 'NamesAccepted', status: 'True', reason: 'r', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
      {
        type: 'Established',
        status: established,
        reason: 'r',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  },
});
const listed = (group: string, resource: string) => ({ group, version: 'v1', resource });

describe('missingKinds', () => {
  const rows: { name: string; definitions: CustomResourceDefinition[]; missing: string[] }[] = [
    { name: 'listed', definitions: [definition('widgets', 'True')], missing: [] },
    { name: 'established, not listed', definitions: [definition('gears', 'True')], missing: ['gears.example.com/v1'] },
    { name: 'not established', definitions: [definition('gears', 'False')], missing: [] },
  ];
  for (const { name, definitions, missing } of rows) {
    test(name, () => {
      const resources = [listed('example.com', 'widgets'), listed('', 'gears')];
      assert.deepEqual(missingKinds(definitions, resources), missing);
      assert.deepEqual(missingKinds(definitions.map(outlineDefinition), resources), missing, 'of an outline too');
    });
  }

  test('an outline is small', () => {
    assert.ok(JSON.stringify(outlineDefinition(definition('widgets', 'True'))).length < 600);
  });
});
