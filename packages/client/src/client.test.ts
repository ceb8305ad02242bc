import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type KubeObject, type ResourceType, StatusError } from '@asterism/machinery';
import { withBasePath } from './base-path.ts';
import { createClient } from './client.ts';
import { createTransport } from './http/http-transport.ts';
import { reply, startFakeServer } from './testing/fake-server.ts';
import { json, scripted } from './testing/scripted-transport.ts';

const PODS: ResourceType = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
const SETS: ResourceType = { group: 'apps', version: 'v1', resource: 'sets', kind: 'Set', namespaced: true };
const pod: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'n' } };

describe('who asks, and where', () => {
  test('who asks: user agent and impersonation, with several groups', async () => {
    const { requests, client } = scripted({});
    const user = { user: 'jane', groups: ['a', 'b'], uid: '1', extra: { 'acme.com/Scope(x)': ['p', 'q'] } };
    await client({ userAgent: 'test/1' }).impersonating(user).getJson('/x');
    assert.deepEqual(requests[0]?.headers, {
      accept: 'application/json',
      'user-agent': 'test/1',
      'impersonate-user': 'jane',
      'impersonate-group': ['a', 'b'],
      'impersonate-uid': '1',
      'impersonate-extra-acme.com%2fscope%28x%29': ['p', 'q'],
    });
  });

  test('impersonation reaches a server as several headers', async () => {
    for (const protocol of ['h2', 'plain'] as const) {
      const seen: (string | string[] | undefined)[] = [];
      await using server = await startFakeServer(
        (request, response) => {
          const raw = 'rawHeaders' in request ? request.rawHeaders : [];
          seen.push(raw.filter((_, index) => index % 2 === 1 && /impersonate-group/i.test(raw[index - 1] ?? '')));
          reply(response, {});
        },
        { protocol },
      );
      await using transport = createTransport({
        ...server.connection(),
        impersonate: { user: 'u', groups: ['a', 'b'] },
      });
      const client = createClient({ transport });
      await client.getJson('/');
      await client.impersonating({ user: 'v', groups: ['c'] }).getJson('/');
      assert.deepEqual(seen, [['a', 'b'], ['c']], protocol);
    }
  });

  test('through another transport it is the same client: who asks stays, whoever it becomes', async () => {
    const { requests, client } = scripted({}, {});
    const seen: string[] = [];
    const through = client({ userAgent: 'test/1', impersonate: { user: 'jane' } }).through((transport) => ({
      ...transport,
      request: (request) => (seen.push(request.path), transport.request(request)),
    }));
    await through.getJson('/x');
    await through.impersonating({ user: 'joe' }).getJson('/y');
    assert.deepEqual(seen, ['/x', '/y']);
    const who = requests.map(({ headers = {} }) => [headers['user-agent'], headers['impersonate-user']]);
    assert.deepEqual(who, [
      ['test/1', 'jane'],
      ['test/1', 'joe'],
    ]);
  });

  test('a base path goes before every path, on the same connections', async () => {
    const { requests, transport } = scripted({});
    const below = withBasePath(transport, '/clusters/edge/proxy');
    await createClient({ transport: below }).getJson('/api');
    assert.equal(requests[0]?.path, '/clusters/edge/proxy/api');
    assert.equal(below.server, 'https://fake.test/clusters/edge/proxy');
  });
});

describe('what is answered', () => {
  test('items of a list bear their kind, and an empty list is one', async () => {
    const { client } = scripted(json({ items: [{ metadata: { name: 'a' } }] }), json({ items: null }));
    const pods = client().resource(SETS);
    assert.deepEqual((await pods.list()).items, [{ metadata: { name: 'a' }, apiVersion: 'apps/v1', kind: 'Set' }]);
    assert.deepEqual((await pods.list()).items, []);
  });

  test('pages follow the token, which stands alone', async () => {
    const { requests, client } = scripted(
      json({ metadata: { continue: 'next' }, items: [pod] }),
      json({ metadata: {}, items: [pod, pod] }),
    );
    const sizes: number[] = [];
    for await (const { items } of client()
      .resource(PODS)
      .pages({ resourceVersion: '5', resourceVersionMatch: 'NotOlderThan' })) {
      sizes.push(items.length);
    }
    assert.deepEqual(sizes, [1, 2]);
    assert.deepEqual(
      requests.map(({ path }) => path),
      [
        '/api/v1/pods?limit=500&resourceVersion=5&resourceVersionMatch=NotOlderThan',
        '/api/v1/pods?limit=500&continue=next',
      ],
    );
  });

  test('managedFields are cut from lists and watches when asked', async () => {
    const object = { metadata: { name: 'a', managedFields: [{}] } };
    const { client } = scripted(json({ items: [object] }), json({ type: 'ADDED', object }));
    const pods = client().resource(PODS);
    assert.deepEqual((await pods.list({ cutManagedFields: true })).items[0]?.metadata, { name: 'a' });
    for await (const { object } of pods.watch({ cutManagedFields: true })) {
      assert.deepEqual(object.metadata, { name: 'a' });
    }
  });

  test('a Status is thrown as it is, with Retry-After; any other body becomes one', async () => {
    const status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'pods "a" not found',
      reason: 'NotFound',
      details: { name: 'a' },
      code: 404,
    };
    const { client } = scripted(
      json(status, 404),
      { ...json({ ...status, code: 429 }, 429), headers: { 'retry-after': '3' } },
      { status: 502, body: '<html>Bad gateway</html>', headers: { 'retry-after': 'Fri, 31 Dec 1999 23:59:59 GMT' } },
      { status: 404, body: 'page not found' },
      json({ kind: 'Other' }, 500),
    );
    const failing = async (): Promise<StatusError> => {
      const error = await client()
        .resource(PODS)
        .get({ namespace: 'n', name: 'a' })
        .catch((caught: unknown) => caught);
      assert.ok(error instanceof StatusError);
      return error;
    };
    const notFound = await failing();
    assert.deepEqual(notFound.status, status);
    const busy = await failing();
    assert.deepEqual([busy.code, busy.retryAfterSeconds], [429, 3]);
    const gateway = await failing();
    assert.equal(gateway.message, 'GET /api/v1/namespaces/n/pods/a: the server answered 502: <html>Bad gateway</html>');
    assert.equal(gateway.retryAfterSeconds, undefined);
    const noPath = await failing();
    assert.deepEqual(
      [noPath.reason, noPath.status.details?.causes?.[0]?.reason],
      ['NotFound', 'UnexpectedServerResponse'],
    );
    assert.equal((await failing()).code, 500);
  });

  test('request() gives an answer of any status', async () => {
    const { client } = scripted({ status: 500 });
    assert.equal((await client().request({ method: 'GET', path: '/' })).status, 500);
  });

  test('getJson() asks for the form that it is told, and says no by itself', async () => {
    const { client, requests } = scripted({ body: '{}' }, { status: 503, body: 'service unavailable' });
    await client().getJson('/x', { headers: { accept: 'application/json;as=Table' } });
    assert.equal(requests[0]?.headers?.['accept'], 'application/json;as=Table');
    await assert.rejects(client().getJson('/x'), { code: 503, message: /answered 503: service unavailable$/ });
  });

  test('an answer that is no JSON is an error that does not quote it', async () => {
    const { client } = scripted({ body: 'secret' });
    await assert.rejects(client().getJson('/x?y'), {
      code: 'ERR_NOT_JSON',
      message: 'GET /x: the answer, of 6 bytes, is not JSON',
    });
  });

  test('an answer that breaks off names the server', async () => {
    const body = async function* () {
      yield '{"ite';
      throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    };
    const { client } = scripted({ body });
    await assert.rejects(client().getJson('/x'), {
      name: 'ClientError',
      code: 'ECONNRESET',
      message: /cannot read from https:\/\/fake\.test: reset/,
    });
  });

  test('warnings are told', async () => {
    const warnings: string[] = [];
    const { client } = scripted({ headers: { warning: '299 - "v1beta1 is \\"old\\"", 299 - "unknown field"' } });
    await client({ onWarning: (message) => warnings.push(message) }).getJson('/x');
    assert.deepEqual(warnings, ['v1beta1 is "old"', 'unknown field']);
  });
});
