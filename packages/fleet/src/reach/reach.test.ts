import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { ClientError, createClient, readBody, type Transport } from '@asterism/client';
import { CONFIG_MAPS, NAMESPACES } from '@asterism/machinery';
import { silentLogger } from '@asterism/runtime';
import { createTunnelHub, isTunnelError, type TunnelAgentState, type TunnelHub } from '@asterism/tunnel';
import { agentKeyGroup } from '../api/index.ts';
import { callerHeader } from './caller-header.ts';
import { NO_CALLERS } from './callers.ts';
import { createReachExtension } from './reach-extension.ts';
import { runReachAgent } from './run-reach-agent.ts';

const KEY = `sha256:${'a'.repeat(64)}`;
const NOBODY = { settled: () => Promise.resolve(NO_CALLERS), admit: () => {} };
const ANN = { user: 'ann', groups: [] };

/** What the hub itself may do through an agent's tunnel, whatever it asks for. Callers of the proxy: `packages/hub`. */
describe('the hub’s own calls through a tunnel', () => {
  const stop = new AbortController();
  let tunnels: TunnelHub;
  let hub: TestServer;
  let member: TestServer;
  let running: Promise<void>;
  let transport: Transport;

  before(async () => {
    tunnels = createTunnelHub();
    transport = tunnels.transport('edge-1');
    const connections = {
      find: (name: string) => (name === 'edge-1' ? { transport } : undefined),
      keyOf: () => Promise.resolve(KEY),
      onChange: () => () => {},
      follow: () => {},
    };
    const reach = createReachExtension({ connections, tunnels, callers: NOBODY, logger: silentLogger });
    hub = await startTestServer({ extensions: [reach], authorization: 'AlwaysAllow' });
    member = await startTestServer();
    const connected = new Promise<void>((resolve) => tunnels.onChange(({ connected: up }) => up && resolve()));
    running = runReachAgent(
      {
        clusterName: 'edge-1',
        syncMode: 'Pull',
        hub: hub.clientAs({ username: 'asterism:agent:edge-1', groups: [agentKeyGroup(KEY)] }),
        member: member.client.transport,
        logger: silentLogger,
      },
      stop.signal,
    );
    await connected;
  });

  after(async () => {
    stop.abort();
    await running;
    await tunnels.close();
    await Promise.all([hub.stop(), member.stop()]);
  });

  test('it reads objects, and watches them', async () => {
    const client = createClient({ transport });
    const kubeSystem = await client.resource(NAMESPACES).get({ name: 'kube-system' });
    const direct = await member.client.resource(NAMESPACES).get({ name: 'kube-system' });
    assert.equal(kubeSystem.metadata?.uid, direct.metadata?.uid);
    for await (const { type } of client.resource(NAMESPACES).watch({ signal: AbortSignal.timeout(5_000) })) {
      assert.equal(type, 'ADDED');
      break;
    }
  });

  const refused = (says: RegExp) => (error: unknown) => {
    assert.ok(isTunnelError(error, 'REFUSED'), String(error));
    assert.match(error.message, says);
    return true;
  };

  test('it writes nothing', async () => {
    const client = createClient({ transport });
    const write = client.resource(CONFIG_MAPS).create({ metadata: { name: 'a', namespace: 'default' } });
    await assert.rejects(write, refused(/edge-1.*may only read/));
    const maps = await member.client.resource(CONFIG_MAPS).list({ namespace: 'default' });
    assert.ok(!maps.items.some(({ metadata }) => metadata?.name === 'a'));
  });

  test('it goes into no pod', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1' };
    const path = '/api/v1/namespaces/default/pods/p/exec?command=sh';
    await assert.rejects(transport.upgrade({ method: 'POST', path, headers }), refused(/may only read/));
    await assert.rejects(transport.request({ method: 'GET', path }), refused(/may only read/));
  });

  test('it is nobody of the member’s own: not the masters, not a service account', async () => {
    const as = (user: string, ...groups: string[]) =>
      transport.request({ method: 'GET', path: '/api/v1/namespaces', headers: callerHeader({ user, groups }) });
    await assert.rejects(as('ann', 'a', 'system:masters'), refused(/masters/));
    await assert.rejects(as('system:serviceaccount:kube-system:x'), refused(/serviceaccount/));
    const answer = await as('ann', 'a', 'b, c');
    assert.equal(answer.status, 403, 'a person without rights is the member’s to refuse');
    assert.match((await readBody(answer.body, 'member')).toString(), /User \\"ann\\"/);
  });

  test('hole 1: a claim that the hub did not make opens nothing, and other servers are not dialled', async () => {
    const headers = { 'impersonate-user': 'root', 'impersonate-group': ['system:masters'] };
    const claim = transport.request({ method: 'GET', path: '/api/v1/namespaces', headers });
    await assert.rejects(claim, refused(/does not say whose/));
    const elsewhere = transport.request({ method: 'GET', path: '//10.0.0.1/api', headers: callerHeader(ANN) });
    await assert.rejects(elsewhere, refused(/begins with one/));
    const upgrade = { connection: 'Upgrade', upgrade: 'SPDY/3.1', ...callerHeader(ANN) };
    const path = '//10.0.0.1/api';
    await assert.rejects(transport.upgrade({ method: 'POST', path, headers: upgrade }), refused(/begins with one/));
  });

  test('a tunnel for a Cluster that there is not is not taken', async () => {
    const gone = hub.clientAs({ username: 'asterism:agent:edge-2', groups: ['asterism:agents'] });
    const answer = await gone.transport.upgrade({
      method: 'POST',
      path: '/apis/proxy.asterism.dev/v1alpha1/clusters/edge-2/attach',
      headers: { connection: 'Upgrade', upgrade: 'asterism-tunnel' },
    });
    assert.equal(answer.status, 404);
  });
});

test('where no other upgrade passes an agent comes by WebSocket, and calls go both ways', async () => {
  await using tunnels = createTunnelHub();
  const transport = tunnels.transport('edge-1');
  const connections = {
    find: () => ({ transport }),
    keyOf: () => Promise.resolve(KEY),
    onChange: () => () => {},
    follow: () => {},
  };
  const reach = createReachExtension({ connections, tunnels, callers: NOBODY, logger: silentLogger });
  const hub = await startTestServer({ extensions: [reach], authorization: 'AlwaysAllow' });
  const member = await startTestServer();
  const asked: string[] = [];
  const agent = hub.clientAs({ username: 'asterism:agent:edge-1', groups: [agentKeyGroup(KEY)] });
  const behindBox = agent.through((direct) => ({
    request: (request) => direct.request(request),
    upgrade: (request) => {
      const token = String(request.headers?.['upgrade']);
      asked.push(token);
      if (token === 'websocket') return direct.upgrade(request);
      return Promise.resolve({ status: 403, headers: {}, body: Readable.from([Buffer.from('<h1>no</h1>')]) });
    },
    close: () => direct.close(),
    [Symbol.asyncDispose]: () => direct.close(),
  }));
  const stop = new AbortController();
  const connected = new Promise<void>((resolve) => tunnels.onChange(({ connected: up }) => up && resolve()));
  const options = { clusterName: 'edge-1', syncMode: 'Pull', hub: behindBox, logger: silentLogger } as const;
  const running = runReachAgent({ ...options, member: member.client.transport }, stop.signal);
  await connected;
  assert.deepEqual(asked.slice(0, 3), ['asterism-tunnel', 'websocket', 'asterism-tunnel']);
  const read = await createClient({ transport }).resource(NAMESPACES).get({ name: 'kube-system' });
  const direct = await member.client.resource(NAMESPACES).get({ name: 'kube-system' });
  assert.equal(read.metadata?.uid, direct.metadata?.uid);
  stop.abort();
  await running;
  await Promise.all([hub.stop(), member.stop()]);
  assert.ok(
    asked.slice(3).every((token) => token === 'websocket'),
    String(asked),
  );
});

describe('an agent whose hub does not take the tunnel', () => {
  type Answer = { status: number; headers?: Record<string, string>; body: string } | ClientError;

  /** What it asked, and how long it then wants to wait, where every call is answered so. */
  async function firstTry(answer: Answer): Promise<{ asked: string[]; waitMs: number; reason: string }> {
    const stop = new AbortController();
    const asked: string[] = [];
    let told: TunnelAgentState | undefined;
    const hub = createClient({
      transport: {
        request: () => Promise.reject(new Error('not asked for')),
        upgrade: ({ method, headers = {} }) => {
          asked.push(`${method} ${String(headers['upgrade'])}`);
          if (answer instanceof Error) return Promise.reject(answer);
          const { status, headers: given = {}, body } = answer;
          return Promise.resolve({ status, headers: given, body: Readable.from([Buffer.from(body)]) });
        },
        close: () => Promise.resolve(),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      },
    });
    const onStateChange = (state: TunnelAgentState): void => {
      if (state.state !== 'disconnected') return;
      told = state;
      stop.abort();
    };
    const options = { clusterName: 'edge-1', syncMode: 'Pull' as const, hub, logger: silentLogger, onStateChange };
    await runReachAgent({ ...options, member: hub.transport }, stop.signal);
    return { asked, waitMs: told?.retryInMs ?? 0, reason: told?.reason ?? '' };
  }

  const status = '{"kind":"Status","apiVersion":"v1","message":"no"}';
  const waits: [answer: Answer, atLeast: number][] = [
    [{ status: 503, body: status }, 1_000],
    [{ status: 404, body: '404 page not found' }, 1_000],
    [{ status: 503, headers: { 'retry-after': '7' }, body: status }, 7_000],
    [{ status: 403, body: status }, 10_000],
    [{ status: 403, body: '<html>no</html>' }, 10_000],
  ];
  for (const [answer, atLeast] of waits) {
    test(`waits ${atLeast / 1000} s after ${JSON.stringify(answer)}`, async () => {
      const { waitMs } = await firstTry(answer);
      assert.ok(waitMs >= atLeast && waitMs < atLeast + 1_000, String(waitMs));
    });
  }

  const upgrade = 'POST asterism-tunnel';
  const both = [upgrade, 'GET websocket'];
  const network = (code: string) => new ClientError(`cannot reach (${code})`, { code });
  const asks: [name: string, answer: Answer, asked: string[]][] = [
    ['the hub refuses with 401', { status: 401, body: status }, [upgrade]],
    ['the hub refuses with 403', { status: 403, body: status }, [upgrade]],
    ['the hub has no such cluster', { status: 404, body: status }, [upgrade]],
    ['the aggregator has no hub', { status: 503, body: status }, [upgrade]],
    ['nobody listens', network('ECONNREFUSED'), [upgrade]],
    ['the proxy refuses', network('ERR_PROXY_REFUSED'), [upgrade]],
    ['TLS does not pass', network('SELF_SIGNED_CERT_IN_CHAIN'), [upgrade]],
    ['the upgrade was taken away', { status: 426, body: status }, both],
    ['another upgrade was put in its place', { status: 400, body: status }, both],
    ['something in between refuses', { status: 403, body: '<html><h1>Forbidden</h1></html>' }, both],
    ['something in between takes it for a plain call', { status: 200, body: '{}' }, both],
    ['something in between cuts it off', network('ECONNRESET'), both],
    ['something in between answers no HTTP', network('HPE_INVALID_CONSTANT'), both],
  ];
  for (const [name, answer, asked] of asks) {
    test(`${asked.length === 1 ? 'does not try' : 'tries'} WebSocket where ${name}`, async () => {
      const seen = await firstTry(answer);
      assert.deepEqual(seen.asked, asked);
      assert.doesNotMatch(seen.reason, /<html>/);
    });
  }
});
