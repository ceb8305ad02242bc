import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatImage, type Image, parseImage, versionOf, withVersion } from './image.ts';

const DIGEST = `sha256:${'0'.repeat(64)}`;

describe('image', () => {
  const rows: [string, Partial<Image>][] = [
    ['nginx', { repository: 'nginx' }],
    ['nginx:1.29', { repository: 'nginx', tag: '1.29' }],
    ['library/nginx', { repository: 'library/nginx' }],
    ['docker.io/library/nginx:1.29', { registry: 'docker.io', repository: 'library/nginx', tag: '1.29' }],
    ['localhost/nginx', { registry: 'localhost', repository: 'nginx' }],
    ['registry:5000/nginx', { registry: 'registry:5000', repository: 'nginx' }],
    [`ghcr.io/a/b:v1@${DIGEST}`, { registry: 'ghcr.io', repository: 'a/b', tag: 'v1', digest: DIGEST }],
    [`nginx@${DIGEST}`, { repository: 'nginx', digest: DIGEST }],
  ];
  for (const [text, parts] of rows) {
    test(text, () => {
      assert.deepEqual(parseImage(text), { registry: '', repository: '', tag: '', digest: '', ...parts });
      assert.equal(formatImage(parseImage(text)), text);
    });
  }

  test('a version is a tag, a digest or both', () => {
    const image = parseImage(`nginx:1@${DIGEST}`);
    assert.equal(versionOf(image), `1@${DIGEST}`);
    assert.equal(formatImage(withVersion(image, '2')), 'nginx:2');
    assert.equal(formatImage(withVersion(image, DIGEST)), `nginx@${DIGEST}`);
    assert.equal(formatImage(withVersion(image, `2@${DIGEST}`)), `nginx:2@${DIGEST}`);
    assert.equal(formatImage(withVersion(image, '')), 'nginx');
  });
});
