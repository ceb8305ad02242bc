import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { validateScaleSpec, validateScaleStatus } from './validate-scale.ts';

const PATHS = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n', labelSelectorPath: '.status.sel' };

describe('what a Scale shows of a custom resource', () => {
  const rows: [spec: unknown, status: unknown, faults: string[]][] = [
    [undefined, undefined, []],
    [{ n: 2 }, { n: 1, sel: 'a=b' }, []],
    [{ n: -1 }, {}, ['.spec.n: Invalid value: -1: should be a non-negative integer']],
    [{ n: 2 ** 31 }, {}, ['.spec.n: Invalid value: 2147483648: should be less than or equal to 2147483647']],
    [{ n: 'x' }, {}, ['.spec.n: Invalid value: 0: .spec.n accessor error: x is of the type string, expected int64']],
    [
      ['x'],
      {},
      [
        '.spec.n: Invalid value: 0: .spec.n accessor error: [x] is of the type []interface {}, expected map[string]interface{}',
      ],
    ],
    [
      {},
      { sel: 5 },
      ['.status.sel: Invalid value: "": .status.sel accessor error: 5 is of the type int64, expected string'],
    ],
  ];
  for (const [spec, status, faults] of rows) {
    test(faults[0] ?? `may be ${JSON.stringify(spec)}`, () => {
      const object = { metadata: {}, spec, status };
      const found = [...validateScaleSpec(object, PATHS), ...validateScaleStatus(object, PATHS)];
      assert.deepEqual(
        found.map(({ field, message }) => `${field}: ${message}`),
        faults,
      );
    });
  }
});
