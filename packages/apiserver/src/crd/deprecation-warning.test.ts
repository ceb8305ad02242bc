import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DefinitionVersion } from './custom-resource-definition.ts';
import { deprecationWarning } from './deprecation-warning.ts';

describe('a deprecated version is answered with', () => {
  const old: DefinitionVersion = { name: 'v1beta1', served: true, deprecated: true };
  const rows: [name: string, version: DefinitionVersion, others: DefinitionVersion[], warning: string][] = [
    ['its own words', { ...old, deprecationWarning: 'no more' }, [], 'no more'],
    [
      'its name alone where nothing is better',
      old,
      [{ name: 'v1alpha1', served: true }],
      'a.b/v1beta1 W is deprecated',
    ],
    [
      'the best of the better ones that are served',
      old,
      [
        { name: 'v1beta2', served: true },
        { name: 'v1', served: true },
        { name: 'v2' },
        { name: 'v3', served: true, deprecated: true },
      ],
      'a.b/v1beta1 W is deprecated; use a.b/v1 W',
    ],
  ];
  for (const [name, version, others, warning] of rows) {
    test(name, () => {
      const context = { group: 'a.b', names: { kind: 'W' }, versions: [version, ...others] };
      assert.equal(deprecationWarning(version, context), warning);
    });
  }
});
