import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject, ManagedFieldsEntry } from '../object.ts';
import { managedFieldsAfterScale, managedFieldsOfScale } from './scale-managed-fields.ts';

const REPLICAS = { 'f:spec': { 'f:replicas': {} } };
const paths = (apiVersion: string) => (apiVersion === 'apps/v1' ? ['spec', 'replicas'] : undefined);

function entry(manager: string, fieldsV1: object, more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry {
  const own = { manager, operation: 'Apply', apiVersion: 'apps/v1', fieldsType: 'FieldsV1', fieldsV1, ...more };
  return own as ManagedFieldsEntry;
}

function deployment(managedFields: ManagedFieldsEntry[]): KubeObject {
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', managedFields } };
}

test('a scale belongs to who has the replicas', () => {
  const live = deployment([
    entry('ctl', { 'f:spec': { 'f:replicas': {}, 'f:paused': {} } }),
    entry('other', { 'f:spec': { 'f:paused': {} } }),
    entry('old', REPLICAS, { apiVersion: 'apps/v1beta1' }),
  ]);
  assert.deepEqual(managedFieldsOfScale(live, paths), [entry('ctl', REPLICAS, { apiVersion: 'autoscaling/v1' })]);
});

describe('after a write of the scale', () => {
  const scaled = (manager: string) => entry(manager, REPLICAS, { apiVersion: 'autoscaling/v1' });
  const own = entry('ctl', { 'f:spec': { 'f:replicas': {}, 'f:paused': {} } });
  const rows: [name: string, scaleEntries: ManagedFieldsEntry[], entries: ManagedFieldsEntry[]][] = [
    ['who still has the replicas keeps them', [scaled('ctl')], [own]],
    [
      'who lost them keeps the rest, who is new has them through the subresource',
      [scaled('hpa')],
      [entry('ctl', { 'f:spec': { 'f:paused': {} } }), entry('hpa', REPLICAS, { subresource: 'scale' })],
    ],
    ['both may have them', [scaled('ctl'), scaled('hpa')], [own, entry('hpa', REPLICAS, { subresource: 'scale' })]],
  ];
  for (const [name, scaleEntries, entries] of rows) {
    test(name, () => {
      const written = scaleEntries.map((each) => (each.manager === 'hpa' ? { ...each, subresource: 'scale' } : each));
      assert.deepEqual(managedFieldsAfterScale(deployment([own]), written, paths), entries);
    });
  }

  test('who had nothing but the replicas is forgotten', () => {
    assert.equal(managedFieldsAfterScale(deployment([entry('ctl', REPLICAS)]), [], paths), undefined);
  });
});
