import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject, ManagedFieldsEntry } from '../object.ts';
import { revertTimeChanges } from './revert-time-changes.ts';

function object(value: number, time: string, more: Partial<ManagedFieldsEntry> = {}): KubeObject & { value: number } {
  const own = {
    manager: 'm',
    operation: 'Update',
    apiVersion: 'v1',
    time,
    fieldsType: 'FieldsV1',
    fieldsV1: {},
    ...more,
  };
  return { metadata: { name: 'a', managedFields: [own as ManagedFieldsEntry] }, value };
}

test('a write that only moves times is undone', () => {
  const before = object(1, 'then');
  before.metadata!.resourceVersion = '7';
  const { metadata } = revertTimeChanges(before, object(1, 'now'));
  assert.deepEqual(metadata?.managedFields, before.metadata?.managedFields);
});

test('any other write stays as it is', () => {
  const before = object(1, 'then');
  const others = [
    object(2, 'now'),
    object(1, 'now', { manager: 'you' }),
    object(1, 'now', { fieldsV1: { 'f:a': {} } }),
  ];
  for (const after of others) assert.equal(revertTimeChanges(before, after), after);
  const untracked = { metadata: { name: 'a' }, value: 1 };
  assert.equal(revertTimeChanges(before, untracked), untracked);
});
