import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Readable } from 'node:stream';
import type { ExtensionContext, ExtensionResource } from '@asterism/apiserver';
import { isStatusError, type OpenApiSchema } from '@asterism/machinery';
import { withStrictFields } from './strict-fields.ts';

const SCHEMA: OpenApiSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        priority: { type: 'integer' },
        items: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
      },
    },
  },
};
const JSON_TYPE = 'application/json';
const MERGE = 'application/merge-patch+json';
const PATH = '/apis/example.com/v1/things';

/** What a host that knows nothing of field validation is sent; `undefined` where it is refused before. */
async function sent(verb: string, body: string, { type = JSON_TYPE, validation = 'Strict' } = {}) {
  let taken: string | undefined;
  const resource: ExtensionResource = {
    resource: 'things',
    singular: 'thing',
    kind: 'Thing',
    namespaced: false,
    verbs: [],
    authorization: 'handler',
    async handle({ request }) {
      taken = Buffer.concat(await request.bodyStream.toArray()).toString();
      return { status: 200, headers: {} };
    },
  };
  const bytes = Buffer.from(body);
  const request = {
    method: 'POST',
    path: PATH,
    query: new URLSearchParams({ fieldValidation: validation }),
    headers: { 'content-type': type },
    body: () => Promise.resolve(bytes),
    bodyStream: Readable.from([bytes]),
    signal: AbortSignal.timeout(5_000),
  };
  const user = { username: 'alice', groups: [] };
  const authorize = () => Promise.resolve({ allowed: true, reason: '' });
  const context: ExtensionContext = { request, user, resource: 'things', rest: '', verb, authorize };
  try {
    await withStrictFields(resource, SCHEMA).handle(context);
    return { taken };
  } catch (error) {
    assert.ok(isStatusError(error), String(error));
    return { refused: error.message, code: error.code };
  }
}

const TYPO = JSON.stringify({ metadata: { name: 'a' }, spec: { priorty: 1, items: [{ nme: 'x' }] } });
const FINE = JSON.stringify({
  apiVersion: 'v',
  kind: 'Thing',
  metadata: { name: 'a', labels: { a: 'b' } },
  spec: { priority: 1 },
});

describe('an object for a host that would drop what it does not know', () => {
  for (const [verb, type] of [
    ['create', JSON_TYPE],
    ['update', JSON_TYPE],
    ['patch', MERGE],
  ] as const) {
    test(`${verb}: a field that is not in the schema is refused and named, when that is asked for`, async () => {
      const { refused, code } = await sent(verb, TYPO, { type });
      assert.equal(code, 400);
      assert.equal(
        refused,
        'Thing in version "v1" cannot be handled as a Thing: strict decoding error: ' +
          'unknown field "spec.items[0].nme", unknown field "spec.priorty"',
      );
      assert.deepEqual(await sent(verb, TYPO, { type, validation: 'Ignore' }), { taken: TYPO });
    });

    test(`${verb}: what is in the schema is sent on as it came`, async () => {
      assert.deepEqual(await sent(verb, FINE, { type }), { taken: FINE });
    });
  }

  test('a field that a patch takes away need not be known', async () => {
    const patch = JSON.stringify({ spec: { priorty: null, priority: 2 } });
    assert.deepEqual(await sent('patch', patch, { type: MERGE }), { taken: patch });
  });

  test('what is no object, or not JSON, is for the host to judge', async () => {
    assert.deepEqual(await sent('create', '{"spec":'), { taken: '{"spec":' });
    const patch = JSON.stringify([{ op: 'add', path: '/spec/priorty', value: 1 }]);
    assert.deepEqual(await sent('patch', patch, { type: 'application/json-patch+json' }), { taken: patch });
  });
});
