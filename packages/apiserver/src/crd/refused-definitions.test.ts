import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { type KubeObject, type OpenApiSchema } from '@asterism/machinery';
import { openTestRegistry, refused } from '../compose/testing/test-registry.ts';
import type { DefinitionVersion } from './custom-resource-definition.ts';
import { DEFINITIONS, define, definition, patchDefinition, SCHEMA } from './testing/test-widgets.ts';

describe('definitions that are refused', () => {
  const [v1] = (definition().spec as { versions: DefinitionVersion[] }).versions as [DefinitionVersion];
  const CASES: readonly (readonly [string, KubeObject, RegExp])[] = [
    [
      'with another name',
      { ...definition(), metadata: { name: 'x.example.com' } },
      /metadata.name: Invalid value: "x.example.com": must be spec.names.plural\+"."\+spec.group/,
    ],
    ['without a schema', definition({ schema: {} }), /spec.versions\[0\].schema.openAPIV3Schema: Required value/],
    [
      'with two storage versions',
      definition({}, { versions: [v1, { ...v1, name: 'v2' }] }),
      /must have exactly one version marked as storage version/,
    ],
    [
      'with a schema that is not structural',
      definition({ schema: { openAPIV3Schema: { type: 'object', properties: { spec: { properties: {} } } } } }),
      /spec.validation.openAPIV3Schema.properties\[spec\].type: Required value/,
    ],
    ['without a scope', definition({}, { scope: '' }), /spec.scope: Required value/],
    [
      'in a protected group',
      { ...definition({}, { group: 'foo.k8s.io' }), metadata: { name: 'widgets.foo.k8s.io' } },
      /protected groups must have approval annotation/,
    ],
    [
      'with a scale that leads nowhere',
      definition({ subresources: { scale: { specReplicasPath: 'spec.x', statusReplicasPath: '.status.x' } } }),
      /specReplicasPath: Invalid value: "spec.x": must be a simple json path starting with ./,
    ],
    [
      'with a column that cannot be shown',
      definition({ additionalPrinterColumns: [{ name: 'a', type: 'colour', jsonPath: '.x' }] }),
      /spec.additionalPrinterColumns\[0\].type: Invalid value: "colour": must be one of/,
    ],
    [
      'with a selectable field that is none',
      definition({ selectableFields: [{ jsonPath: '.spec.none' }] }),
      /spec.selectableFields\[0\].jsonPath: .*does not refer to a valid field/,
    ],
  ];
  for (const [what, object, words] of CASES) {
    test(what, async () => {
      await using t = await openTestRegistry();
      await refused(t.create(DEFINITIONS, object), 422, words);
    });
  }

  test('an established one keeps its group, names and scope', async () => {
    await using t = await openTestRegistry();
    await define(t, definition());
    for (const [field, spec] of [
      ['spec.scope', { scope: 'Cluster' }],
      ['spec.names.plural', { names: { plural: 'others' } }],
      ['spec.names.kind', { names: { kind: 'Other' } }],
    ] as const) {
      await refused(patchDefinition(t, { spec }), 422, new RegExp(`${field}: Invalid value: .*: field is immutable`));
    }
  });

  test('rules that are not enforced are told', async () => {
    await using t = await openTestRegistry();
    const schema: OpenApiSchema = { ...SCHEMA, 'x-kubernetes-validations': [{ rule: 'has(self.spec)' }] };
    await t.create(DEFINITIONS, definition({ schema: { openAPIV3Schema: schema } }));
    assert.match(t.warnings[0] ?? '', /CEL rules .* not enforced/);
  });
});
