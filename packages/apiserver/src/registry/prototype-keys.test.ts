import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CONFIG_MAPS } from '@asterism/machinery';
import { startTestServer, type TestServer } from '../testing/index.ts';

/** Keys that mean something to JavaScript's objects, and nothing to Kubernetes. */
const KEYS = ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'valueOf'];
const TEXT = JSON.stringify(Object.fromEntries(KEYS.map((key) => [key, key])));
const PATH = '/api/v1/namespaces/default/configmaps';

describe('keys of a map that JavaScript knows', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ controllers: false });
  });
  after(() => server.stop());

  async function ask(method: string, path: string, body?: string, type = 'application/json'): Promise<string> {
    const headers = { 'content-type': type, accept: 'application/json' };
    const response = await server.client.request({ method, path, headers, ...(body === undefined ? {} : { body }) });
    const pieces: Buffer[] = [];
    for await (const piece of response.body) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString();
    assert.ok(response.status < 300, text);
    return text;
  }

  function dataOf(text: string): string[] {
    const { data } = JSON.parse(text) as { data: Record<string, string> };
    return Object.entries(data)
      .map(([key, value]) => `${key}=${value}`)
      .sort();
  }

  const expected = KEYS.map((key) => `${key}=${key}`).sort();
  const body = (name: string): string =>
    `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"},"data":${TEXT}}`;

  const writes: [how: string, write: (name: string) => Promise<string>][] = [
    ['create', (name) => ask('POST', PATH, body(name))],
    ['update', (name) => ask('POST', PATH, body(name)).then(() => ask('PUT', `${PATH}/${name}`, body(name)))],
    ...['merge-patch+json', 'strategic-merge-patch+json'].map((type): [string, (name: string) => Promise<string>] => [
      type,
      async (name) => {
        await server.client.resource(CONFIG_MAPS).create({ metadata: { namespace: 'default', name } });
        return await ask('PATCH', `${PATH}/${name}`, `{"data":${TEXT}}`, `application/${type}`);
      },
    ]),
    [
      'json-patch',
      async (name) => {
        await server.client.resource(CONFIG_MAPS).create({ metadata: { namespace: 'default', name } });
        const patch = `[{"op":"add","path":"/data","value":{}},${KEYS.map((key) => `{"op":"add","path":"/data/${key}","value":"${key}"}`).join(',')}]`;
        return await ask('PATCH', `${PATH}/${name}`, patch, 'application/json-patch+json');
      },
    ],
    [
      'apply',
      async (name) => {
        const path = `${PATH}/${name}?fieldManager=a`;
        await ask('PATCH', path, body(name), 'application/apply-patch+yaml');
        return await ask('PATCH', path, body(name), 'application/apply-patch+yaml');
      },
    ],
  ];
  for (const [how, write] of writes) {
    test(`${how} keeps them`, async () => {
      const name = how.replaceAll(/[^a-z]/g, '-');
      assert.deepEqual(dataOf(await write(name)), expected);
      assert.deepEqual(dataOf(await ask('GET', `${PATH}/${name}`)), expected);
    });
  }

  test('an apply that leaves them out removes them', async () => {
    const path = `${PATH}/left?fieldManager=a`;
    await ask('PATCH', path, body('left'), 'application/apply-patch+yaml');
    const rest = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"left"},"data":{"a":"b"}}';
    assert.deepEqual(dataOf(await ask('PATCH', path, rest, 'application/apply-patch+yaml')), ['a=b']);
  });
});
