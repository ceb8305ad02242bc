import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inGoOrder } from './go-field-order.ts';

const keys = (value: unknown): string[] => Object.keys(value as object);

test('fields of structs stand as Go declares them, keys of maps sorted', () => {
  const pod = inGoOrder(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      status: {},
      spec: {
        nodeName: 'n',
        containers: [{ image: 'i', name: 'c' }],
        volumes: [{ configMap: { name: 'x', items: [] }, name: 'v' }],
      },
      metadata: { labels: { b: '1', a: '2' }, namespace: 'n', name: 'p' },
    },
    { group: '', version: 'v1', kind: 'Pod' },
  );
  assert.deepEqual(keys(pod), ['kind', 'apiVersion', 'metadata', 'spec', 'status']);
  assert.deepEqual(keys(pod.metadata), ['name', 'namespace', 'labels']);
  assert.deepEqual(keys((pod.metadata as { labels: object }).labels), ['a', 'b']);
  const { volumes, containers } = pod.spec as { volumes: { configMap: object }[]; containers: object[] };
  assert.deepEqual(keys(pod.spec), ['volumes', 'containers', 'nodeName']);
  assert.deepEqual(keys(containers[0]), ['name', 'image']);
  assert.deepEqual(keys(volumes[0]), ['name', 'configMap']);
  assert.deepEqual(keys(volumes[0]!.configMap), ['name', 'items']);
});

test('of a kind that is not built in all keys are sorted', () => {
  const widget = inGoOrder(
    { spec: { b: 1, a: 2 }, kind: 'Widget', apiVersion: 'x/v1' },
    { group: 'x', version: 'v1', kind: 'Widget' },
  );
  assert.equal(JSON.stringify(widget), '{"apiVersion":"x/v1","kind":"Widget","spec":{"a":2,"b":1}}');
});
