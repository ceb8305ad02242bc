import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import type { KubeObject } from '../object.ts';
import { loadProtobuf, ProtobufError } from './load-protobuf.ts';

interface Vector {
  /** Group, version and kind. */
  name: string;
  /** Base64. */
  protobuf: string;
  object: KubeObject;
  /** The body spells out zero values, as a server does, which encoding leaves out. */
  withZeros?: boolean;
}

const vectors = readFileSync(new URL('fixtures/vectors.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Vector);

/** Kubernetes' own vectors, all of them; see `staging/src/k8s.io/api/testdata` there. */
const VECTORS =
  process.env['ASTERISM_VECTORS'] ??
  fileURLToPath(new URL('../../../../../shared/kube/roundtrip-1.36', import.meta.url));

const WATCH_EVENT = { group: '', version: 'v1', kind: 'WatchEvent' };

const protobuf = await loadProtobuf();

test('it is loaded once', async () => assert.equal(await loadProtobuf(), protobuf));

/** Checks one vector both ways. The body of a watch event does not say what it is. */
function checkVector({ name, protobuf: base64, object, withZeros }: Vector): void {
  const body = Buffer.from(base64, 'base64');
  const isWatchEvent = name === 'core.v1.WatchEvent';
  const decoded = protobuf.decode(body, isWatchEvent ? WATCH_EVENT : undefined);
  assert.deepEqual(decoded, isWatchEvent ? { apiVersion: 'v1', kind: 'WatchEvent', ...object } : object);
  const encoded = protobuf.encode(decoded);
  if (withZeros || isWatchEvent) assert.deepEqual(protobuf.decode(encoded), decoded);
  else assert.ok(Buffer.compare(encoded, body) === 0, 'the bytes differ');
}

describe('bodies that Kubernetes wrote are read, and written again byte for byte', () => {
  for (const vector of vectors) test(vector.name, () => checkVector(vector));
});

test('all of Kubernetes’ round-trip vectors', (context) => {
  if (!existsSync(VECTORS)) {
    context.skip(`no vectors in ${VECTORS}; ASTERISM_VECTORS names a directory that has them`);
    return;
  }
  const names = readdirSync(VECTORS).filter((file) => file.endsWith('.pb'));
  assert.ok(names.length > 100, `${names.length} vectors`);
  for (const file of names) {
    const name = file.slice(0, -'.pb'.length);
    const object = JSON.parse(readFileSync(join(VECTORS, `${name}.json`), 'utf8')) as KubeObject;
    try {
      checkVector({ name, protobuf: readFileSync(join(VECTORS, file)).toString('base64'), object });
    } catch (error) {
      throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
    }
  }
});

describe('a body that is no object is refused in the words of a kube-apiserver', () => {
  const rows: [name: string, base64: string, message: string][] = [
    ['of nothing but the prefix', 'azhzAA==', 'empty body'],
    ['cut off in the envelope', 'azhzAP//', 'unexpected EOF'],
    ['cut off in the object', 'azhzAAoPCgJ2MRIJQ29uZmlnTWFwEgX//////w==', 'unexpected EOF'],
    [
      'with a part that is longer than what it is part of',
      'azhzAAoPCgJ2MRIJQ29uZmlnTWFwEgkKAgoFYWFhYWE=',
      'unexpected EOF',
    ],
    [
      'with a number where a text belongs',
      'azhzAAoPCgJ2MRIJQ29uZmlnTWFwEgQKAggB',
      'proto: wrong wireType = 0 for field name',
    ],
    [
      'without the prefix',
      'bm9wZQ==',
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    ],
    ['of no kind', 'azhzAAoA', 'no kind "" is registered for version ""'],
  ];
  for (const [name, base64, message] of rows) {
    test(name, () => {
      assert.throws(() => protobuf.decode(Buffer.from(base64, 'base64')), { name: 'ProtobufError', message });
    });
  }
});

test('a body that does not say its kind is read as the one that is expected', () => {
  const decoded = protobuf.decode(Buffer.from('azhzAAoA', 'base64'), {
    group: 'apps',
    version: 'v1',
    kind: 'ReplicaSet',
  });
  assert.deepEqual(decoded, { apiVersion: 'apps/v1', kind: 'ReplicaSet' });
});

test('whatever the bytes, decoding gives an object or a ProtobufError', () => {
  const bodies = vectors.map((vector) => Buffer.from(vector.protobuf, 'base64')).filter((body) => body.length < 4000);
  const change = fc.record({ at: fc.nat(), to: fc.nat(255) });
  fc.assert(
    fc.property(fc.constantFrom(...bodies), fc.array(change, { maxLength: 4 }), fc.nat(), (body, changes, length) => {
      const broken = Buffer.from(body.subarray(0, body.length - (length % 3)));
      for (const { at, to } of changes) broken[at % broken.length] = to;
      try {
        assert.equal(typeof protobuf.decode(broken, WATCH_EVENT), 'object');
      } catch (error) {
        assert.ok(error instanceof ProtobufError, String(error));
      }
    }),
    { numRuns: 3000 },
  );
});

test('data keys may be called anything', () => {
  const object = JSON.parse(
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"":"3","__proto__":"1","toString":"2"}}',
  ) as KubeObject;
  assert.equal(JSON.stringify(protobuf.decode(protobuf.encode(object))), JSON.stringify(object));
});

test('equal objects are equal bytes', () => {
  const object = (data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data });
  assert.deepEqual(protobuf.encode(object({ a: '1', b: '2' })), protobuf.encode(object({ b: '2', a: '1' })));
});

describe('which kinds have a message', () => {
  const rows: [apiVersion: string, group: string, version: string, kind: string, known: boolean][] = [
    ['v1', '', 'v1', 'Pod', true],
    ['apps/v1', 'apps', 'v1', 'StatefulSet', true],
    ['rbac.authorization.k8s.io/v1', 'rbac.authorization.k8s.io', 'v1', 'Role', true],
    ['apps/v1', 'apps', 'v1', 'DeleteOptions', true],
    ['meta.k8s.io/v1', 'meta.k8s.io', 'v1', 'PartialObjectMetadataList', true],
    ['example.com/v1', 'example.com', 'v1', 'DeleteOptions', true],
    // A custom resource is nobody else, whatever its names.
    ['apps.kruise.io/v1beta1', 'apps.kruise.io', 'v1beta1', 'StatefulSet', false],
    ['example.com/v1', 'example.com', 'v1', 'Condition', false],
    ['v1', '', 'v1', 'Widget', false],
    ['v1', '', 'v1', 'constructor', false],
  ];
  for (const [apiVersion, group, version, kind, known] of rows) {
    test(`${apiVersion} ${kind}: ${known}`, () => {
      assert.equal(protobuf.knows({ group, version, kind }), known);
      if (!known) {
        const message = `no kind "${kind}" is registered for version "${apiVersion}"`;
        assert.throws(() => protobuf.encode({ apiVersion, kind }), new ProtobufError(message));
      }
    });
  }
});

describe('values with a form of their own survive both ways', () => {
  const pod = (container: object): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', ...container }] },
  });
  const volume = (source: object): KubeObject => ({ apiVersion: 'v1', kind: 'Pod', spec: { volumes: [source] } });
  const rows: [name: string, object: KubeObject][] = [
    ['quantities', pod({ resources: { limits: { cpu: '100m', memory: '1Gi' } } })],
    ['a port by number', pod({ livenessProbe: { httpGet: { port: 8080, path: '/' } } })],
    ['a port by name', pod({ livenessProbe: { httpGet: { port: 'http', path: '/' } } })],
    [
      'an empty string that is not an absent one',
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'c' },
        spec: { storageClassName: '' },
      } as KubeObject,
    ],
    ['a volume, whose source stands beside its name', volume({ name: 'v', configMap: { name: 'c', optional: false } })],
    [
      'times before 1970 and with fractions',
      {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'l', creationTimestamp: '1969-12-31T23:59:58Z' },
        spec: { renewTime: '2026-01-02T03:04:05.678901Z' },
      },
    ],
    [
      'a schema of schemas',
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'widgets.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { plural: 'widgets', kind: 'Widget' },
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: {
                openAPIV3Schema: {
                  type: 'object',
                  'x-kubernetes-preserve-unknown-fields': true,
                  properties: {
                    a: { type: 'array', items: { type: 'integer', default: 3, enum: [1, 'x', null] } },
                    b: { type: 'object', additionalProperties: { type: 'string' } },
                    c: { type: 'object', additionalProperties: true },
                    d: { type: 'number', maximum: 1.5, minimum: 0 },
                  },
                },
              },
            },
          ],
        },
      } as KubeObject,
    ],
  ];
  for (const [name, object] of rows) {
    test(name, () => {
      const decoded = protobuf.decode(protobuf.encode(object));
      assert.deepEqual(decoded, object);
    });
  }
});
