import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import { type ApiExtension, type ApiResponse, type ExtensionContext } from '@asterism/apiserver';
import type { Client, ClientError, Connection } from '@asterism/client';
import { API_SERVICES, type KubeObject, SERVICE_ACCOUNTS, SERVICES } from '@asterism/machinery';
import { CONTROL_PLANE_BINARIES } from '../../cluster/control-plane.ts';
import { unlessThere } from '../../cluster/real-kubernetes.ts';
import { until } from '../../cluster/until.ts';
import { DelegatingHost, serve, type Serving } from './delegating-host.ts';

const GROUP = 'links.example.com';
const TOKEN_REQUESTS = {
  group: '',
  version: 'v1',
  resource: 'serviceaccounts',
  kind: 'TokenRequest',
  namespaced: true,
};
const SERVICE = { name: 'links', namespace: 'default' };
/** Of the host, for requests that are not long by nature: 60 s and 400 where nobody says otherwise. */
const REQUEST_TIMEOUT_S = 4;
const MAX_IN_FLIGHT = 15;

/** What the handler of the last request saw. */
let lastCall: ExtensionContext | undefined;

/** Cluster-scoped `links`, of which there is one; `attach` and `hold` take an Upgrade and echo, `hold` answers nothing else. */
const LINKS: ApiExtension = {
  group: GROUP,
  version: 'v1',
  resources: [
    {
      resource: 'links',
      singular: 'link',
      kind: 'Link',
      namespaced: false,
      verbs: ['get', 'list'],
      shortNames: ['lnk'],
      subresources: ['attach', 'hold'].map((name) => ({ name, kind: 'Link', verbs: ['create', 'get'] })),
      authorization: 'rbac',
      handle: (context) => {
        lastCall = context;
        return context.subresource === 'hold'
          ? untilGone(context.request.signal)
          : Promise.resolve(answerLinks(context));
      },
      upgrade: (context, socket, head) => {
        lastCall = context;
        return echo(socket, head);
      },
    },
  ],
};

function answerLinks({ name }: ExtensionContext): ApiResponse {
  const link = { kind: 'Link', apiVersion: `${GROUP}/v1`, metadata: { name: 'first' } };
  const list = { kind: 'LinkList', apiVersion: `${GROUP}/v1`, metadata: {}, items: [link] };
  const body = Buffer.from(JSON.stringify(name === undefined ? list : link));
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}

async function untilGone(signal: AbortSignal): Promise<ApiResponse> {
  if (!signal.aborted) await once(signal, 'abort');
  return { status: 503, headers: {} };
}

async function echo(socket: Duplex, head: Buffer): Promise<void> {
  socket.on('error', () => {});
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
  socket.unshift(head);
  socket.pipe(socket);
  await once(socket, 'close');
}

/** Has the host's aggregator send the group to the server, and waits until it does. */
async function register({ plane }: DelegatingHost, { port, ca }: Serving): Promise<void> {
  await plane.client.resource(SERVICES).create({
    metadata: SERVICE,
    spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port, protocol: 'TCP' }] },
  });
  const name = `v1.${GROUP}`;
  await plane.client.resource(API_SERVICES).create({
    metadata: { name },
    spec: {
      group: GROUP,
      version: 'v1',
      groupPriorityMinimum: 1000,
      versionPriority: 15,
      service: { ...SERVICE, port },
      caBundle: Buffer.from(ca).toString('base64'),
    },
  });
  const isAvailable = ({ status }: KubeObject): boolean => {
    // In the first instant null, as Go writes a list that is empty.
    const { conditions } = (status ?? {}) as { conditions?: { type: string; status: string }[] | null };
    return (conditions ?? []).some((condition) => condition.type === 'Available' && condition.status === 'True');
  };
  await until(plane.client, API_SERVICES, { name }, isAvailable, { needs: [plane.apiServer] });
  // The route comes a moment after the condition, and nothing tells of it.
  const signal = AbortSignal.timeout(30_000);
  for (;;) {
    const { status, body } = await plane.client.request({ method: 'GET', path: `/apis/${GROUP}/v1`, signal });
    body.resume();
    if (status === 200) return;
    await delay(50, undefined, { signal });
  }
}

const skip = unlessThere(...CONTROL_PLANE_BINARIES, 'kubectl-1.36', 'kubectl-1.20');

describe('behind the aggregator of a real kube-apiserver', { skip, timeout: 120_000 }, () => {
  let host: DelegatingHost;
  let serving: Serving;
  /** Of the group `linkers`, who may use links. */
  let rita: Connection;
  let otto: Connection;

  before(async () => {
    host = await DelegatingHost.start([
      `--request-timeout=${REQUEST_TIMEOUT_S}s`,
      `--max-requests-inflight=${MAX_IN_FLIGHT}`,
      '--feature-gates=APIPriorityAndFairness=false',
    ]);
    serving = await serve(host, `${SERVICE.name}.${SERVICE.namespace}.svc`, { kinds: 'none', extensions: [LINKS] });
    await register(host, serving);
    await host.allow('linkers', {
      apiGroups: [GROUP],
      resources: ['links', 'links/attach', 'links/hold'],
      verbs: ['get', 'list', 'create'],
    });
    rita = await host.plane.connectionAs({ commonName: 'rita', organizations: ['linkers', 'staff'] });
    otto = await host.plane.connectionAs({ commonName: 'otto' });
  });

  after(async () => {
    await serving?.[Symbol.asyncDispose]();
    await host?.stop();
  });

  test('kubectl finds the group, lists its resources and gets one, with the caller’s own rights', async () => {
    for (const version of ['1.36', '1.20']) {
      const kubectl = await host.kubectl(`rita-${version}`, rita, version);
      assert.match(await kubectl.run(['api-resources', `--api-group=${GROUP}`]), /links\s+lnk\s.*false\s+Link/);
      assert.match(await kubectl.run(['get', 'lnk']), /^first /m);
      const raw = await kubectl.run(['get', '--raw', `/apis/${GROUP}/v1/links/first`]);
      assert.equal((JSON.parse(raw) as KubeObject).metadata?.name, 'first');
    }
    assert.deepEqual(lastCall?.user, { username: 'rita', groups: ['linkers', 'staff', 'system:authenticated'] });
    const refused = await (await host.kubectl('otto', otto)).try(['get', 'links']);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /User "otto" cannot list resource "links" in API group "links.example.com"/);
  });

  test('what a caller says of himself does not get through the aggregator, nor past it', async () => {
    const headers = { 'x-remote-user': 'root', 'x-remote-group': 'system:masters', 'x-remote-uid': 'forged' };
    const path = `/apis/${GROUP}/v1/links`;
    const statusOf = async (connection: Connection): Promise<number> => {
      const { status, body } = await host.client(connection).request({ method: 'GET', path, headers });
      body.resume();
      return status;
    };
    assert.equal(await statusOf(otto), 403);
    assert.equal(await statusOf(rita), 200);
    assert.deepEqual([lastCall?.user.username, lastCall?.user.uid], ['rita', undefined]);
    const directly = { server: serving.url, caData: serving.ca };
    assert.equal(await statusOf({ ...otto, ...directly }), 403);
    assert.equal(await statusOf({ ...rita, ...directly }), 200);
    assert.equal(lastCall?.user.username, 'rita');
    assert.equal(await statusOf({ ...directly, credential: { kind: 'none' } }), 403);
    const { pki } = host.plane;
    const [cert, key] = await Promise.all(
      ['front-proxy-client.crt', 'front-proxy-client.key'].map((file) => readFile(pki.file(file), 'utf8')),
    );
    const proxy = { kind: 'certificate', cert: cert!, key: key! } as const;
    assert.equal(await statusOf({ ...directly, credential: proxy }), 200);
    assert.equal(lastCall?.user.username, 'root');
  });

  test('a token of the host’s is a user here', async () => {
    const account = { namespace: 'default', name: 'default' };
    await until(host.plane.client, SERVICE_ACCOUNTS, account, () => true);
    const { status } = (await host.plane.client
      .resource<KubeObject>(TOKEN_REQUESTS)
      .create(
        { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
        { ...account, subresource: 'token' },
      )) as { status?: { token: string } };
    const credential = { kind: 'token', token: status?.token ?? '' } as const;
    const client = host.client({ server: serving.url, caData: serving.ca, credential });
    await assert.rejects(client.getJson(`/apis/${GROUP}/v1/links`), {
      code: 403,
      message: /User "system:serviceaccount:default:default" cannot list/,
    });
  });

  test('an Upgrade carries bytes both ways, for longer than the host gives a request that is not long by nature', async () => {
    const attached = await upgrade(host.client(rita), 'attach');
    const bytes = Buffer.alloc(1024 * 1024, 'bytes ');
    assert.ok((await roundTrip(attached, bytes)).equals(bytes));
    const slow = host.client(rita).request({ method: 'GET', path: `/apis/${GROUP}/v1/links/first/hold` });
    // In time for an answer, or just not.
    const ended = await slow.then(
      ({ status }) => status,
      (error: ClientError) => error.code,
    );
    assert.ok(ended === 504 || ended === 'ERR_HTTP2_STREAM_ERROR', String(ended));
    assert.equal((await roundTrip(attached, Buffer.from('still here'))).toString(), 'still here');
    const closed = once(attached, 'close');
    attached.destroy();
    await closed;
    await assert.rejects(upgrade(host.client(otto), 'attach'), /403/);
  });

  test('Upgrades on `attach` take none of the host’s places for requests, others do', async (t) => {
    const client = host.client(rita);
    const open: Duplex[] = [];
    t.after(() => open.forEach((socket) => socket.destroy()));
    for (let count = 0; count < MAX_IN_FLIGHT * 2; count++) open.push(await upgrade(client, 'attach'));
    await client.getJson(`/apis/${GROUP}/v1/links`);
    await assert.rejects(async () => {
      for (let count = 0; count <= MAX_IN_FLIGHT; count++) open.push(await upgrade(client, 'hold'));
    }, /429/);
  });
});

async function upgrade(client: Client, subresource: string): Promise<Duplex> {
  const path = `/apis/${GROUP}/v1/links/first/${subresource}`;
  const headers = { connection: 'Upgrade', upgrade: 'echo' };
  const answer = await client.transport.upgrade({ method: 'GET', path, headers });
  if (!('socket' in answer)) {
    answer.body.destroy();
    throw new Error(`the upgrade was answered with ${answer.status}`);
  }
  answer.socket.on('error', () => {});
  return answer.socket;
}

/** Resolves with as many bytes as were sent. */
async function roundTrip(socket: Duplex, bytes: Buffer): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const complete = Promise.withResolvers<void>();
  const onData = (piece: Buffer): void => {
    pieces.push(piece);
    if (Buffer.concat(pieces).length >= bytes.length) complete.resolve();
  };
  const onClose = (): void => complete.reject(new Error('the connection ended'));
  socket.on('data', onData).on('close', onClose);
  socket.write(bytes);
  await complete.promise;
  socket.off('data', onData).off('close', onClose);
  return Buffer.concat(pieces);
}
