import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PersistentVolume, PersistentVolumeClaim } from '@asterism/machinery';
import { matchVolume } from './volume-match.ts';

type VolumeSpec = NonNullable<PersistentVolume['spec']>;
type ClaimSpec = NonNullable<PersistentVolumeClaim['spec']>;

const volume = (name: string, storage: string, spec: Partial<VolumeSpec> = {}): PersistentVolume => ({
  metadata: { name },
  spec: { capacity: { storage }, accessModes: ['ReadWriteOnce'], ...spec },
});

const claim = (spec: Partial<ClaimSpec> = {}): PersistentVolumeClaim => ({
  metadata: { name: 'data', namespace: 'default', uid: 'u-1' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } }, ...spec },
});

const ROWS: [name: string, claim: PersistentVolumeClaim, volumes: PersistentVolume[], found: string | undefined][] = [
  ['the smallest that is large enough', claim(), [volume('a', '1Gi'), volume('b', '9Gi'), volume('c', '3Gi')], 'c'],
  ['none that is too small', claim(), [volume('a', '1Gi')], undefined],
  ['none of another class', claim(), [volume('a', '3Gi', { storageClassName: 'fast' })], undefined],
  ['none of another mode', claim({ accessModes: ['ReadWriteMany'] }), [volume('a', '3Gi')], undefined],
  ['none that another has', claim(), [volume('a', '3Gi', { claimRef: { uid: 'u-2', name: 'x' } })], undefined],
  [
    'the one that is kept for it',
    claim(),
    [volume('a', '3Gi', { claimRef: { namespace: 'default', name: 'data' } })],
    'a',
  ],
  ['the one that it has', claim(), [volume('a', '2Gi'), volume('b', '9Gi', { claimRef: { uid: 'u-1' } })], 'b'],
  ['the one that it names', claim({ volumeName: 'b' }), [volume('a', '2Gi'), volume('b', '9Gi')], 'b'],
];

describe('the volume of a claim', () => {
  for (const [name, each, volumes, found] of ROWS) {
    test(name, () => assert.equal(matchVolume(each, volumes)?.metadata?.name, found));
  }
});
