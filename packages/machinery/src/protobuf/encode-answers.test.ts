import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { BUILTIN_RESOURCES } from '../generated/builtin-resources.ts';
import type { KubeObject } from '../object.ts';
import { loadProtobuf } from './load-protobuf.ts';

/** What a Kubernetes 1.36 server answered to those who asked for protobuf. */
const recorded = readFileSync(new URL('fixtures/recorded-bodies.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { name: string; base64: string });

const LIST_META = { resourceVersion: '7', continue: 'next' };
const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };

describe('an object is written with every field that Go always writes', () => {
  for (const { name, base64 } of recorded) {
    test(name, async () => {
      const protobuf = await loadProtobuf();
      const bytes = Buffer.from(base64, 'base64');
      assert.deepEqual(Buffer.from(protobuf.encode(protobuf.decode(bytes))), bytes);
    });
  }
});

describe('a list is put together from items', () => {
  for (const count of [0, 1, 300]) {
    test(`${count} items`, async () => {
      const protobuf = await loadProtobuf();
      const objects = Array.from({ length: count }, (_, i) => ({
        metadata: { name: `m${i}` },
        data: { k: 'v'.repeat(i) },
      }));
      const head = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: LIST_META } as KubeObject;
      const { length, parts } = protobuf.encodeList(
        head,
        objects.map((object) => protobuf.encodeItem(object, CONFIG_MAP)),
      );
      const bytes = Buffer.concat([...parts]);
      assert.equal(bytes.length, length);
      const list = protobuf.decode(bytes) as { items?: { metadata: { name: string } }[]; metadata: object };
      assert.deepEqual(list.metadata, LIST_META);
      assert.deepEqual(
        (list.items ?? []).map(({ metadata }) => metadata.name),
        objects.map(({ metadata }) => metadata.name),
      );
      const whole = protobuf.encode({ ...head, items: objects });
      assert.deepEqual(bytes, Buffer.from(whole));
    });
  }
});

test('an event of a watch stands behind its length, its object in an envelope of its own', async () => {
  const protobuf = await loadProtobuf();
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } };
  const frame = Buffer.from(protobuf.encodeEvent('ADDED', object));
  assert.equal(frame.readUInt32BE(), frame.length - 4);
  assert.equal(frame.toString('latin1', 6, 11), 'ADDED');
  assert.deepEqual(protobuf.decode(frame.subarray(frame.indexOf('k8s\0'))), object);
});

test('every built-in kind and its list can be answered with', async () => {
  const protobuf = await loadProtobuf();
  for (const { group, version, kind, verbs } of BUILTIN_RESOURCES) {
    assert.ok(protobuf.knows({ group, version, kind }), `${group}/${version} ${kind}`);
    if (verbs.includes('list')) assert.ok(protobuf.knows({ group, version, kind: `${kind}List` }), `${kind}List`);
  }
});
