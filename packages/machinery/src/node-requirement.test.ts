import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NodeSelectorRequirement } from './generated/core-v1.ts';
import { meetsNodeRequirement } from './node-requirement.ts';

const LABELS = { zone: 'x', cores: '8', empty: '', signed: '-3', padded: ' 9 ', half: '8.5', huge: '9007199254740993' };

describe('a node meets', () => {
  const rows: [key: string, operator: string, values: string[] | undefined, meets: boolean][] = [
    ['zone', 'In', ['x', 'y'], true],
    ['zone', 'In', ['y'], false],
    ['zone', 'In', undefined, false],
    ['disk', 'In', ['x'], false],
    ['empty', 'In', [''], true],
    ['zone', 'NotIn', ['x'], false],
    ['zone', 'NotIn', ['y'], true],
    ['disk', 'NotIn', ['x'], true],
    ['zone', 'Exists', undefined, true],
    ['empty', 'Exists', undefined, true],
    ['disk', 'Exists', undefined, false],
    ['toString', 'Exists', undefined, false],
    ['disk', 'DoesNotExist', undefined, true],
    ['zone', 'DoesNotExist', undefined, false],
    ['toString', 'DoesNotExist', undefined, true],
    ['cores', 'Gt', ['7'], true],
    ['cores', 'Gt', ['8'], false],
    ['cores', 'Gt', ['10'], false],
    ['cores', 'Lt', ['10'], true],
    ['cores', 'Lt', ['8'], false],
    ['cores', 'Gt', ['+7'], true],
    ['signed', 'Gt', ['-4'], true],
    ['signed', 'Lt', ['0'], true],
    ['huge', 'Gt', ['9007199254740992'], true],
    ['cores', 'Gt', [''], false],
    ['cores', 'Gt', undefined, false],
    ['cores', 'Gt', ['7.5'], false],
    ['cores', 'Gt', ['0x1'], false],
    ['cores', 'Gt', ['1e0'], false],
    ['cores', 'Lt', ['Infinity'], false],
    ['empty', 'Lt', ['8'], false],
    ['empty', 'Gt', ['-1'], false],
    ['half', 'Gt', ['8'], false],
    ['padded', 'Gt', ['8'], false],
    ['zone', 'Gt', ['1'], false],
    ['disk', 'Lt', ['8'], false],
    ['zone', 'Like', ['x'], false],
  ];
  for (const [key, operator, values, meets] of rows) {
    test(`${key} ${operator} ${JSON.stringify(values)}: ${meets}`, () => {
      const requirement = { key, operator, ...(values ? { values } : {}) } as NodeSelectorRequirement;
      assert.equal(meetsNodeRequirement(requirement, LABELS), meets);
    });
  }
});
