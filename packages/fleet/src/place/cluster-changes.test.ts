import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { kindsServedOtherwise, roomChanged, suitabilityChanged } from './cluster-changes.ts';
import { cluster } from './testing/build.ts';

const isSuitabilityChanged = suitabilityChanged.update ?? assert.fail;

describe('what a cluster says of itself', () => {
  const before = cluster('ant', { labels: { tier: 'gold' } });

  test('again changes nothing', () => {
    const again = cluster('ant', { labels: { tier: 'gold' } });
    assert.equal(isSuitabilityChanged(before, again), false);
    assert.equal(roomChanged(before, again), false);
    assert.deepEqual([...kindsServedOtherwise(before, again)], []);
  });

  test('of its room is no matter of suitability', () => {
    const fuller = cluster('ant', { labels: { tier: 'gold' }, allocated: { cpu: '8' } });
    assert.equal(isSuitabilityChanged(before, fuller), false);
    assert.equal(roomChanged(before, fuller), true);
  });

  test('of what it serves concerns the kinds that come or go', () => {
    const served = (...serves: string[]) => cluster('ant', { serves });
    const changed = kindsServedOtherwise(
      served('v1/Secret', 'apps/v1/Deployment'),
      served('v1/Secret', 'batch/v1/Job', 'v1/Pod'),
    );
    assert.deepEqual([...changed].toSorted(), ['apps/v1/Deployment', 'batch/v1/Job', 'v1/Pod']);
    const { status: _, ...silent } = before;
    assert.equal(kindsServedOtherwise(silent, before).size, 5);
  });

  test('labels, taints and leaving are', () => {
    for (const after of [
      cluster('ant', { labels: { tier: 'iron' } }),
      cluster('ant', { labels: { tier: 'gold' }, taints: [{ key: 'x', effect: 'NoSchedule' }] }),
      cluster('ant', { labels: { tier: 'gold' }, deleting: true }),
    ])
      assert.equal(isSuitabilityChanged(before, after), true);
  });
});
