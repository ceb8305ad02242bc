import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { isStatusError } from '@asterism/machinery';
import type { ApiRequest } from '../../contract/api-request.ts';
import { readPatch } from './read-patch.ts';

const TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

function request(contentType: string, body: string, query: Record<string, string> = {}): ApiRequest {
  const bytes = Buffer.from(body);
  return {
    method: 'PATCH',
    path: '/',
    query: new URLSearchParams(query),
    headers: { 'content-type': contentType },
    body: () => Promise.resolve(bytes),
    bodyStream: Readable.from([bytes]),
    signal: new AbortController().signal,
  };
}

const read = (type: keyof typeof TYPES, body: string, query: Record<string, string> = {}) =>
  readPatch(request(TYPES[type], body, type === 'apply' ? { fieldManager: 'm', ...query } : query));

describe('a body that is no such patch is told with the patch', () => {
  const NOT_A_MAP = 'of type map[string]interface {}';
  const rows: [type: keyof typeof TYPES, body: string, query: Record<string, string>, fault: string][] = [
    ['json', '{', {}, 'error decoding patch: unexpected end of JSON input'],
    [
      'json',
      '{}',
      {},
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    ],
    [
      'json',
      '{}',
      { fieldValidation: 'Ignore' },
      'json: cannot unmarshal object into Go value of type jsonpatch.Patch',
    ],
    ['merge', '[]', {}, `error decoding patch: json: cannot unmarshal array into Go value ${NOT_A_MAP}`],
    ['merge', '[]', { fieldValidation: 'Ignore' }, 'Invalid JSON Patch'],
    ['merge', 'null', {}, 'Invalid JSON Patch'],
    ['strategic', '"x"', {}, `json: cannot unmarshal string into Go value ${NOT_A_MAP}`],
    ['strategic', '{', {}, 'unexpected end of JSON input'],
    [
      'apply',
      '[]',
      {},
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value ${NOT_A_MAP}`,
    ],
    [
      'apply',
      'a: b: c',
      {},
      'error decoding YAML: error converting YAML to JSON: yaml: mapping values are not allowed in this context',
    ],
    [
      'apply',
      '{',
      {},
      'error decoding YAML: error converting YAML to JSON: yaml: line 1: did not find expected node content',
    ],
  ];
  for (const [type, body, query, fault] of rows) {
    test(`${type} ${body} ${JSON.stringify(query)}`, async () => {
      assert.equal((await read(type, body, query)).patch.fault?.message, fault);
    });
  }
});

describe('what is not quite right', () => {
  test('keys that stand twice and unknown fields of an operation', async () => {
    const { strictErrors } = await read('json', '[{"op":"add","op":"add","path":"/a","value":1,"note":"x"}]');
    assert.deepEqual(strictErrors, ['json patch duplicate field "[0].op"', 'json patch unknown field "[0].note"']);
  });

  test('a merge patch has no words before them', async () => {
    assert.deepEqual((await read('merge', '{"a":1,"a":2}')).strictErrors, ['duplicate field "a"']);
  });

  test('an apply names the line', async () => {
    const { strictErrors } = await read('apply', 'data:\n  a: "1"\n  a: "2"\n');
    assert.deepEqual(strictErrors, [
      'error converting YAML to JSON: yaml: unmarshal errors:\n  line 3: key "a" already set in map',
    ]);
  });
});

test('a number is tested as it is written', async () => {
  const body =
    '[{"op":"test","path":"/a","value":3.0},{"op":"test","path":"/a","value":3},{"op":"add","path":"/b","value":1e2}]';
  const { patch } = await read('json', body);
  const values = (patch.body as { value: unknown }[]).map(({ value }) => value);
  assert.deepEqual(values, [Number.NaN, 3, 100]);
});

test('parameters of the content type do not matter, another type does', async () => {
  const { patch } = await readPatch(request(`${TYPES.merge}; charset=utf-8`, '{}'));
  assert.equal(patch.type, 'merge');
  await assert.rejects(readPatch(request('application/json', '{}')), /415/);
});

test('a custom resource takes no strategic merge patch, and has other words for an unknown type', async () => {
  for (const type of ['application/json', TYPES.strategic]) {
    await assert.rejects(readPatch(request(type, '{}'), true), (error) => {
      assert.ok(isStatusError(error));
      assert.deepEqual([error.code, error.status.details], [415, undefined]);
      return /accepted media types include: application\/json-patch\+json/.test(error.message);
    });
  }
});
