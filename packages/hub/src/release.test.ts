import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareReleases, ownRelease } from './release.ts';

test('releases in order', () => {
  const ordered = ['', 'nonsense', '0.1.0-alpha', '0.1.0-beta', '0.1.0', '0.1.2', '0.1.10', '0.2.0', '1.0.0'];
  for (const [index, release] of ordered.entries()) {
    assert.equal(compareReleases(release, release), 0);
    const next = ordered[index + 1];
    if (next === undefined || release === '') continue;
    assert.ok(compareReleases(release, next) < 0, `${release} < ${next}`);
    assert.ok(compareReleases(next, release) > 0, `${next} > ${release}`);
  }
  assert.equal(compareReleases('0.1.0', '0.1.0+build.5'), 0);
});

test('this release is one', () => assert.ok(compareReleases(ownRelease(), '0.0.1') > 0));
