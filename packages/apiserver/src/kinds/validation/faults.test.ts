import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invalid, MAX_TOLD_FAULTS } from '@asterism/machinery';
import { Faults } from './faults.ts';
import { FieldPath } from './field-path.ts';

test('faults that no answer tells are not even written, and the answer says that there are more', () => {
  const faults = new Faults();
  let written = 0;
  const value = { toJSON: () => ++written };
  for (let index = 0; index < 3 * MAX_TOLD_FAULTS; index += 1) {
    faults.invalidStruct(FieldPath.of('spec').index(index), value, 'is wrong');
  }

  assert.equal(written, MAX_TOLD_FAULTS + 1);
  const { causes = [] } = invalid({ group: '', kind: 'Pod' }, 'web', faults.found).status.details ?? {};
  assert.equal(causes.length, MAX_TOLD_FAULTS + 1);
  assert.equal(causes[MAX_TOLD_FAULTS - 1]?.field, `spec[${MAX_TOLD_FAULTS - 1}]`);
  assert.equal(causes.at(-1)?.message, `Too many: only the first ${MAX_TOLD_FAULTS} faults are told`);
});
