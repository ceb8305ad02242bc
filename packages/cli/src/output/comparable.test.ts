import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparableLines } from './comparable.ts';

test('keys are sorted; what a server sets by itself, and status, are left out', async () => {
  const metadata = {
    name: 'web',
    uid: '1',
    resourceVersion: '2',
    generation: 3,
    creationTimestamp: 'x',
    managedFields: [],
  };
  const object = { kind: 'Deployment', apiVersion: 'apps/v1', metadata, status: { replicas: 1 }, spec: { b: 1, a: 2 } };
  assert.deepEqual(await comparableLines(object, undefined), [
    ['apiVersion: apps/v1', 'kind: Deployment', 'metadata:', '  name: web', 'spec:', '  a: 2', '  b: 1'],
    undefined,
  ]);
});

test('no value of a Secret is shown, but which of them differ', async () => {
  const secret = (data: Record<string, string>) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's' },
    data,
  });
  const [before, after] = await comparableLines(
    secret({ same: 'czE=', other: 'czI=', gone: 'czM=' }),
    secret({ same: 'czE=', other: 'czQ=', more: 'czU=' }),
  );
  assert.deepEqual(before?.slice(1, 5), ['data:', '  gone: "***"', '  other: "*** (before)"', '  same: "***"']);
  assert.deepEqual(after?.slice(1, 5), ['data:', '  more: "***"', '  other: "*** (after)"', '  same: "***"']);
  assert.doesNotMatch([...(before ?? []), ...(after ?? [])].join('\n'), /cz/);
});
