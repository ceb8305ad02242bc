import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FieldsV1, ManagedFieldsEntry } from '../object.ts';
import { handOverFields } from './hand-over-fields.ts';

const entry = (manager: string, fieldsV1: FieldsV1, extra: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry => ({
  manager,
  operation: 'Update',
  apiVersion: 'apps/v1',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...extra,
});
const kubectl = 'kubectl-client-side-apply';
const give = (entries: ManagedFieldsEntry[]) =>
  handOverFields(entries, { from: ({ manager }) => manager === kubectl, to: 'heir', apiVersion: 'apps/v1' });

describe('handOverFields', () => {
  const replicas = { 'f:spec': { 'f:replicas': {} } };
  const paused = { 'f:spec': { 'f:paused': {} } };
  const heir = { operation: 'Apply' } as const;
  const rows: { name: string; entries: ManagedFieldsEntry[]; result: ManagedFieldsEntry[] | undefined }[] = [
    { name: 'nobody has anything', entries: [], result: undefined },
    { name: 'others keep what is theirs', entries: [entry('hpa', replicas)], result: undefined },
    { name: 'a manager of before', entries: [entry(kubectl, replicas)], result: [entry('heir', replicas, heir)] },
    {
      name: 'joined with what the heir has',
      entries: [entry(kubectl, replicas), entry('hpa', paused), entry('heir', paused, { ...heir, time: 'later' })],
      result: [
        entry('hpa', paused),
        entry('heir', { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } }, { ...heir, time: 'later' }),
      ],
    },
    {
      name: 'a whole field and what is in it',
      entries: [entry(kubectl, { 'f:spec': {} }), entry('heir', replicas, heir)],
      result: [entry('heir', { 'f:spec': { '.': {}, 'f:replicas': {} } }, heir)],
    },
    { name: 'a subresource', entries: [entry(kubectl, replicas, { subresource: 'status' })], result: undefined },
    { name: 'another version', entries: [entry(kubectl, replicas, { apiVersion: 'apps/v1beta1' })], result: undefined },
    {
      name: 'an heir in another version',
      entries: [entry(kubectl, replicas), entry('heir', paused, { ...heir, apiVersion: 'apps/v1beta1' })],
      result: undefined,
    },
  ];
  for (const { name, entries, result } of rows) test(name, () => assert.deepEqual(give(entries), result));
});
