import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { createClient, readBody, type Transport } from '@asterism/client';
import { CONFIG_MAPS, NAMESPACES } from '@asterism/machinery';
import { silentLogger } from '@asterism/runtime';
import { createTunnelHub, isTunnelError, type TunnelAgentState, type TunnelHub } from '@asterism/tunnel';
import { agentKeyGroup } from '../api/index.ts';
import { callerHeader } from './caller-header.ts';
import { NO_CALLERS } from './callers.ts';
import { createReachExtension } from './reach-extension.ts';
import { runReachAgent } from './run-reach-agent.ts';

const KEY = `sha256:${'a'.repeat(64)}`;
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
    const callers = { settled: () => Promise.resolve(NO_CALLERS), admit: () => {} };
    const reach = createReachExtension({ connections, tunnels, callers, logger: silentLogger });
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

describe('an agent whose hub does not take the tunnel', () => {
  for (const [status, headers, atLeast, below] of [
    [503, {}, 1_000, 2_000],
    [404, {}, 1_000, 2_000],
    [503, { 'retry-after': '7' }, 7_000, 8_000],
    [403, {}, 10_000, 11_000],
  ] as const) {
    test(`waits ${atLeast / 1000} s after ${status} ${JSON.stringify(headers)}`, async () => {
      const stop = new AbortController();
      const waits: number[] = [];
      const hub = createClient({
        transport: {
          request: () => Promise.reject(new Error('not asked for')),
          upgrade: () => Promise.resolve({ status, headers, body: Readable.from([Buffer.from('no')]) }),
          close: () => Promise.resolve(),
          [Symbol.asyncDispose]: () => Promise.resolve(),
        },
      });
      const onStateChange = (state: TunnelAgentState): void => {
        if (state.state !== 'disconnected') return;
        waits.push(state.retryInMs ?? 0);
        stop.abort();
      };
      const options = { clusterName: 'edge-1', syncMode: 'Pull' as const, hub, logger: silentLogger, onStateChange };
      await runReachAgent({ ...options, member: hub.transport }, stop.signal);
      assert.ok(waits[0] !== undefined && waits[0] >= atLeast && waits[0] < below, String(waits));
    });
  }
});
