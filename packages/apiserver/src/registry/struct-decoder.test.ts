import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { schemaOfKind, StatusError, badRequest } from '@asterism/machinery';
import { StructDecoder } from './struct-decoder.ts';

const DEPLOYMENT = schemaOfKind({ group: 'apps', version: 'v1', kind: 'Deployment' })!;
const SECRET = schemaOfKind({ group: '', version: 'v1', kind: 'Secret' })!;
const SLICE = schemaOfKind({ group: 'discovery.k8s.io', version: 'v1', kind: 'EndpointSlice' })!;

function faultOf(object: Record<string, unknown>, schema = DEPLOYMENT, fromMap = false): string {
  const fail = (why: string): StatusError => badRequest(why);
  try {
    new StructDecoder({ fail, fromMap }).decodeObject(object, schema);
  } catch (error) {
    if (error instanceof StatusError) return error.message;
    throw error;
  }
  return 'none';
}

const containers = (container: object) => ({ spec: { template: { spec: { containers: [container] } } } });

describe('what does not fit is told as Go tells it', () => {
  const field = 'spec.template.spec.containers';
  const rows: [name: string, object: Record<string, unknown>, json: string, map: string][] = [
    [
      'a text for a number',
      { spec: { replicas: 'x' } },
      'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
      'unrecognized type: int32',
    ],
    [
      'a fraction for a number',
      { spec: { replicas: 1.5 } },
      'json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32',
      'cannot convert float64 to int32',
    ],
    [
      'a number for a text',
      containers({ name: 5 }),
      `json: cannot unmarshal number into Go struct field Container.${field}.name of type string`,
      'cannot convert int64 to string',
    ],
    [
      'a text for a list',
      containers({ args: 'x' }),
      `json: cannot unmarshal string into Go struct field Container.${field}.args of type []string`,
      'cannot restore slice from string',
    ],
    [
      'a list for an object',
      { spec: [] },
      'json: cannot unmarshal array into Go struct field Deployment.spec of type v1.DeploymentSpec',
      'cannot restore struct from: slice',
    ],
    [
      'an object in a map of texts',
      { metadata: { labels: { a: {} } } },
      'json: cannot unmarshal object into Go struct field ObjectMeta.metadata.labels of type string',
      'unrecognized type: string',
    ],
    [
      'a truth for a port',
      containers({ livenessProbe: { httpGet: { port: true } } }),
      `json: cannot unmarshal bool into Go struct field HTTPGetAction.${field}.livenessProbe.httpGet.port of type int32`,
      'json: cannot unmarshal bool into Go value of type int32',
    ],
    [
      'no quantity',
      containers({ resources: { limits: { cpu: 'x' } } }),
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
  ];
  for (const [name, object, json, map] of rows) {
    test(name, () => {
      assert.equal(faultOf(object), json);
      assert.equal(faultOf(object, DEPLOYMENT, true), map);
    });
  }

  for (const [text, at] of [
    ['!!', 0],
    ['1', 0],
    ['abcde', 4],
    ['ab=c', 3],
    ['abc=d', 4],
    ['a===', 1],
  ] as const) {
    test(`base64 ${text}`, () => {
      const fault = `illegal base64 data at input byte ${at}`;
      assert.equal(faultOf({ data: { k: text } }, SECRET), fault);
      assert.equal(faultOf({ data: { k: text } }, SECRET, true), `error decoding from json: ${fault}`);
    });
  }
});

describe('what was decoded before', () => {
  const fail = (why: string): StatusError => badRequest(why);
  const decode = (object: Record<string, unknown>, base?: Record<string, unknown>) =>
    new StructDecoder({ fail }).decodeObject(object, DEPLOYMENT, base);
  const base = decode({ metadata: { name: 'a', managedFields: [{ manager: 'm' }] }, ...containers({ name: 'c' }) });

  test('is shared where the content stays as it is', () => {
    const draft = decode({ ...base, metadata: { ...(base.metadata as object), labels: { a: 'b' } } }, base);
    assert.equal(draft.spec, base.spec);
    assert.notEqual(draft.metadata, base.metadata);
    const owners = (object: Record<string, unknown>) => (object.metadata as { managedFields?: unknown }).managedFields;
    assert.equal(owners(draft), owners(base));
  });

  test('is copied where something of it is another', () => {
    const spec = base.spec as Record<string, unknown>;
    const draft = decode({ ...base, spec: { ...spec, replicas: 5 } }, base);
    const { template, replicas } = draft.spec as Record<string, unknown>;
    assert.equal(replicas, 5);
    assert.deepEqual(template, spec.template);
    assert.notEqual(template, spec.template);
  });
});

test('unknown fields are named with keys and indexes', () => {
  const decoder = new StructDecoder({ fail: badRequest });
  decoder.decodeObject({ a: 1, metadata: { labels: { x: 'y' }, b: 2 }, ...containers({ c: 3 }) }, DEPLOYMENT);
  assert.deepEqual(decoder.unknown, ['a', 'metadata.b', 'spec.template.spec.containers[0].c']);
});

test('an empty list that the server shows as null is noted', () => {
  const emptied: string[][] = [];
  const draft = new StructDecoder({ fail: badRequest, emptied }).decodeObject(
    { addressType: 'IPv4', endpoints: [], metadata: { finalizers: [] } },
    SLICE,
  );
  assert.equal(draft.endpoints, null);
  assert.deepEqual(emptied, [['endpoints']]);
});
