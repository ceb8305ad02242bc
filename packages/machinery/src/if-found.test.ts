import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ifFound } from './if-found.ts';
import { forbidden, notFound } from './index.ts';

const PODS = { group: '', resource: 'pods' };

test('what is not there is undefined, and every other error one', async () => {
  assert.equal(await ifFound(Promise.resolve('web')), 'web');
  assert.equal(await ifFound(Promise.reject(notFound(PODS, 'web'))), undefined);
  await assert.rejects(ifFound(Promise.reject(forbidden(PODS, 'web', 'no'))), { code: 403 });
});
