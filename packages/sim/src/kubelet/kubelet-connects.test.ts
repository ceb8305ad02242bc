import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import type { ExtensionContext } from '@asterism/apiserver';
import { failure, isStatusError, notFound } from '@asterism/machinery';
import { type ConnectedPod, kubeletConnects } from './kubelet-connects.ts';
import { FakeBackend } from './testing/fake-backend.ts';

const one = [{ name: 'app' }];
const two = [...one, { name: 'side' }];
const SPDY = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' };

interface Row {
  subresource: string;
  spec: ConnectedPod['spec'];
  query?: string;
  headers?: Record<string, string>;
  code: number;
  message: RegExp;
}

const bound = { nodeName: 'n1', containers: one };
const rows: Record<string, Row> = {
  'no such pod': {
    subresource: 'exec',
    spec: undefined,
    query: 'stdout=1',
    code: 404,
    message: /^pods "web" not found$/,
  },
  'a pod without a node': {
    subresource: 'exec',
    spec: { containers: one },
    query: 'stdout=1',
    code: 400,
    message: /^pod web does not have a host assigned$/,
  },
  'a pod of another node': {
    subresource: 'portforward',
    spec: { nodeName: 'n2', containers: one },
    code: 404,
    message: /^pods "web" not found$/,
  },
  'none of two containers': {
    subresource: 'exec',
    spec: { nodeName: 'n1', containers: two, initContainers: [{ name: 'first' }] },
    query: 'stdout=1',
    code: 400,
    message: /^a container name must be specified for pod web, choose one of: \[first app side\]$/,
  },
  'another container': {
    subresource: 'attach',
    spec: bound,
    query: 'stdout=1&container=x',
    code: 400,
    message: /^container x is not valid for pod web$/,
  },
  'no stream': { subresource: 'exec', spec: bound, query: 'stderr=1&tty=1', code: 400, message: /at least 1 of stdin/ },
};

/** Handlers of a pod with this spec, and what they are called with. */
function setUp({
  subresource,
  spec,
  query = '',
  headers = SPDY,
}: Pick<Row, 'subresource' | 'spec' | 'query' | 'headers'>) {
  const backend = new FakeBackend();
  const connects = kubeletConnects({
    podOf: async (_namespace, name) => {
      if (spec === undefined) throw notFound({ group: '', resource: 'pods' }, name);
      return { metadata: { name }, spec };
    },
    backendOf: (nodeName) => (nodeName === 'n1' ? backend : undefined),
  });
  const handler = connects.find((each) => each.subresource === subresource)!;
  const request = { headers, query: new URLSearchParams(query), signal: new AbortController().signal };
  const context = { request, namespace: 'default', name: 'web', resource: 'pods' } as unknown as ExtensionContext;
  return { backend, handler, context };
}

for (const [name, row] of Object.entries(rows)) {
  test(`refused with nothing written: ${name}`, async () => {
    const { handler, context } = setUp(row);
    const socket = new Duplex({ read: () => {}, write: () => assert.fail('written') });
    await assert.rejects(
      async () => await handler.upgrade?.(context, socket, Buffer.alloc(0)),
      (error) => isStatusError(error) && error.code === row.code && row.message.test(error.message),
    );
  });
}

const nodeRefusals: [name: string, headers: Record<string, string>, refusal: Error | undefined, answer: RegExp][] = [
  [
    'no common version',
    { ...SPDY, 'x-stream-protocol-version': 'v9' },
    undefined,
    /^HTTP\/1\.1 403 Forbidden\r\n(.*\r\n)+unable to upgrade: unable to negotiate/,
  ],
  [
    'not running',
    SPDY,
    failure(500, 'container not found ("app")'),
    /^HTTP\/1\.1 500 (.*\r\n)+container not found \("app"\)\n$/,
  ],
];
for (const [name, headers, refusal, answer] of nodeRefusals) {
  test(`refused by the node: ${name}`, async () => {
    const { handler, context, backend } = setUp({ subresource: 'exec', spec: bound, query: 'stdout=1', headers });
    backend.refusal = refusal;
    let written = '';
    const socket = new Duplex({
      read: () => {},
      write: (chunk, _encoding, callback) => {
        written += String(chunk);
        callback();
      },
    });
    await handler.upgrade?.(context, socket, Buffer.alloc(0));
    assert.match(written, answer);
    assert.ok(socket.writableEnded);
  });
}

test('exec without an Upgrade', async () => {
  const { handler, context } = setUp({ subresource: 'exec', spec: bound, query: 'stdout=1' });
  await assert.rejects(
    async () => await handler.handle(context),
    (error) => isStatusError(error) && error.code === 400 && error.message === 'Upgrade request required',
  );
});

test('a log, and that of a pod without a node', async () => {
  const { handler, context, backend } = setUp({ subresource: 'log', spec: bound, query: 'tailLines=2' });
  backend.log = async function* ({ tailLines }) {
    yield Buffer.from(`${tailLines} lines`);
  };
  const { status, body } = await handler.handle(context);
  assert.equal(status, 200);
  assert.equal((await buffer(body as AsyncIterable<Uint8Array>)).toString(), '2 lines');
  const unbound = setUp({ subresource: 'log', spec: { containers: one } });
  const empty = await unbound.handler.handle(unbound.context);
  assert.deepEqual([empty.status, empty.body], [200, new Uint8Array()]);
});
