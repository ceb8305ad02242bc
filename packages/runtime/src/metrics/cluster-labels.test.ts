import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterLabels, OTHER_CLUSTERS } from './cluster-labels.ts';

test('the first clusters have labels of their own, the others share one, and who goes makes room', () => {
  const labels = new ClusterLabels(2);
  assert.equal(labels.take(''), '');
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => labels.take(name)),
    ['a', 'b', OTHER_CLUSTERS],
  );
  assert.equal(labels.take('a'), 'a', 'again');
  assert.equal(labels.of('c'), OTHER_CLUSTERS);
  assert.equal(labels.release('c'), false);
  assert.equal(labels.release('a'), true);
  assert.equal(labels.of('a'), OTHER_CLUSTERS);
  assert.equal(labels.take('d'), 'd');
  assert.equal(labels.take('e'), OTHER_CLUSTERS);
});
