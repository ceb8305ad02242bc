import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeObject } from './decode-body.ts';

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const DEPLOYMENT = { group: 'apps', version: 'v1', kind: 'Deployment' };
const decode = (text: string | Uint8Array, contentType?: string) =>
  decodeObject(typeof text === 'string' ? Buffer.from(text) : text, contentType, CONFIG_MAP);

test('kind and version come from the URL where the body is silent', async () => {
  const { object } = await decode('{"metadata":{"name":"a"}}');
  assert.equal(JSON.stringify(object), '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}');
});

test('null is an empty object', async () => {
  assert.deepEqual((await decode('null')).object, { kind: 'ConfigMap', apiVersion: 'v1' });
});

test('keys that stand twice are reported and the last counts', async () => {
  const { object, strictErrors } = await decode('{"data":{"a":"1","a":"2"}}');
  assert.deepEqual(object.data, { a: '2' });
  assert.deepEqual(strictErrors, ['duplicate field "data.a"']);
});

test('a key is read as it is written, whatever keys others have sent', async () => {
  const fields = (key: string): string => `{"metadata":{"managedFields":[{"fieldsV1":{"f:decoded":{},${key}:{}}}]}}`;
  const key = 'k:{"name":"x"}';
  const written = JSON.stringify(key);
  const mistaken = written.slice(1, 1 + key.length);
  const { object: before } = await decode(fields(JSON.stringify(mistaken)));
  const { object, strictErrors } = await decode(fields(written));
  assert.deepEqual(strictErrors, []);
  assert.deepEqual(object.metadata?.managedFields?.[0]?.fieldsV1, { 'f:decoded': {}, [key]: {} });
  assert.deepEqual(before.metadata?.managedFields?.[0]?.fieldsV1, { 'f:decoded': {}, [mistaken]: {} });
});

test('as deep as a body may nest, its keys are read as they are written', async () => {
  const deep = (levels: number): string => `${'{"\\\\":'.repeat(levels)}1${'}'.repeat(levels)}`;
  const { object } = await decode(deep(512));
  assert.equal(JSON.stringify(object), deep(512).replace('{', '{"kind":"ConfigMap","apiVersion":"v1",'));
  await assert.rejects(decode(deep(513)), /exceeded max depth/);
});

test('YAML is read as Kubernetes reads it', async () => {
  const text =
    '# comment\nkind: ConfigMap\nwhen: 2020-01-01\nswitch: yes\nat: 12:30\nmode: 010\ntext: "010"\n---\nkind: Other\n';
  const { object } = await decode(text, 'application/yaml');
  assert.deepEqual(object, {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    when: '2020-01-01',
    switch: true,
    at: '12:30',
    mode: 8,
    text: '010',
  });
});

test('YAML keys that stand twice are named with their line', async () => {
  const { object, strictErrors } = await decode('data:\n  k: "1"\n  k: "2"\n', 'application/yaml');
  assert.deepEqual(object.data, { k: '2' });
  assert.deepEqual(strictErrors, ['yaml: unmarshal errors:\n  line 3: key "k" already set in map']);
});

const refused: [
  name: string,
  body: string | Uint8Array,
  contentType: string | undefined,
  code: number,
  message: RegExp,
][] = [
  ['empty', '', undefined, 400, /json parse error: unexpected end of JSON input \(<empty>\)$/],
  ['cut off', '{', undefined, 400, /must be of type ConfigMap.*unexpected end of JSON input \(\{\)$/],
  ['a list', '[]', undefined, 400, /cannot unmarshal array .*\(5b5d\)$/],
  ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), undefined, 400, /must be of type ConfigMap/],
  ['very deep', `${'['.repeat(1e5)}${']'.repeat(1e5)}`, undefined, 400, /exceeded max depth/],
  ['broken YAML', 'a: b: c', 'application/yaml', 400, /yaml:/],
  ['YAML aliases that explode', yamlBomb(), 'application/yaml', 400, /alias/i],
  ['text', 'x', 'text/plain', 415, /unknown format - accepted media types include: application\/json/],
  ['a malformed content type', '{}', 'application/json;a', 415, /unknown format/],
  ['another kind', '{"kind":"Secret"}', undefined, 400, /^Secret in version "v1" cannot be handled as a ConfigMap: /],
  ['another version', '{"apiVersion":"v2"}', undefined, 400, /^the API version in the data \(v2\) does not match/],
];

for (const [name, body, contentType, code, message] of refused) {
  test(`refused: ${name}`, async () => {
    await assert.rejects(decode(body, contentType), { code, message });
  });
}

test('a parameter of the content type does not matter, nor its case', async () => {
  await decode('{}', 'APPLICATION/JSON; charset=utf-8');
});

test('another group is named in the refusal', async () => {
  await assert.rejects(
    decodeObject(Buffer.from('{"kind":"ReplicaSet","apiVersion":"apps/v1"}'), undefined, DEPLOYMENT),
    {
      message:
        'ReplicaSet in version "v1" cannot be handled as a Deployment: converting (v1.ReplicaSet) to (apps.Deployment): unknown conversion',
    },
  );
});

function yamlBomb(): string {
  const levels = Array.from({ length: 12 }, (_, n) => `a${n + 1}: &a${n + 1} [${Array(10).fill(`*a${n}`).join(', ')}]`);
  return ['a0: &a0 [x]', ...levels].join('\n');
}
