import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareKubeVersions } from './compare-kube-versions.ts';

test('stable versions come first, then beta and alpha, the newest of each first, and other names last', () => {
  const preferred = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10'];
  assert.deepEqual(
    preferred.toSorted().sort((a, b) => compareKubeVersions(b, a)),
    preferred,
  );
});
