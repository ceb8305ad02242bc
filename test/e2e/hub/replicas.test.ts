import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Client, readBody, readLines, requestWebSocket } from '@asterism/client';
import { CLUSTERS, destinationProxyPath, memberProxyPath } from '@asterism/fleet/api';
import { CLUSTER_ROLE_BINDINGS, isConditionTrue } from '@asterism/machinery';
import { CONTROL_PLANE_BINARIES } from '../../cluster/control-plane.ts';
import { HUB_CONTROLLERS } from '../../cluster/control-plane-controllers.ts';
import type { Daemon } from '../../cluster/daemon.ts';
import { unlessLab } from '../../cluster/node-assets.ts';
import { unlessThere } from '../../cluster/real-kubernetes.ts';
import { until } from '../../cluster/until.ts';
import { type OtherServers, startOtherServers } from '../../../packages/hub/src/testing/other-servers.ts';
import { eventually } from '../../demo/aster-up.ts';
import { HostedFleet, memberVersion, reachable } from './hosted-fleet.ts';

/** More calls than could all come to one of two by chance. */
const MANY = 40;

/** So many call without a pause while a replica stops. */
const CALLERS = 8;

const skip = unlessThere(...CONTROL_PLANE_BINARIES, 'kubectl-1.36') || unlessLab();

describe('two replicas of a hub that both take calls, behind a kube-apiserver', { skip }, () => {
  let fleet: HostedFleet;
  let first: Daemon;
  let second: Daemon;
  let others: OtherServers;

  before(async () => {
    others = await startOtherServers();
    fleet = await HostedFleet.start({
      templates: 'host',
      controllers: HUB_CONTROLLERS,
      withinLab: true,
      apiServer: ['--enable-aggregator-routing=true'],
    });
    first = await fleet.startHub('first', '--serve', 'all');
    await first.printed(/^leading$/m, AbortSignal.timeout(30_000));
    second = await fleet.startHub('second', '--serve', 'all');
  });

  after(async () => {
    await fleet?.[Symbol.asyncDispose]();
    await others?.[Symbol.asyncDispose]();
  });

  const addresses = async (): Promise<number> => {
    const path = '{.subsets[*].ports[0].port}';
    const endpoints = ['get', 'endpoints', '-n', 'asterism-system', 'asterism-hub-replicas', '-o', `jsonpath=${path}`];
    return (await fleet.kubectl.run(endpoints)).trim().split(/\s+/).length;
  };

  test('both stand behind the Service, and every call arrives, whichever takes it and whichever holds the tunnel', async () => {
    await eventually(async () => assert.equal(await addresses(), 2));
    const member = await fleet.join('edge-1', {
      destinations: { origins: [others.http, others.https], caData: others.ca },
    });
    await until(fleet.host.client, CLUSTERS, { name: 'edge-1' }, ({ status }) =>
      isConditionTrue(status?.conditions, 'Ready'),
    );
    await member.client.resource(CLUSTER_ROLE_BINDINGS).create({
      metadata: { name: 'admin' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'admin' }],
    });
    const { gitVersion } = await member.client.version();
    await reachable(fleet.host.client, 'edge-1');
    const versions = Array.from({ length: MANY }, () => memberVersion(fleet.host.client, 'edge-1'));
    assert.deepEqual(new Set(await Promise.all(versions)), new Set([gitVersion]));
  });

  test('so does every call to another server behind the agent, a WebSocket too', async () => {
    const { client } = fleet.host;
    for (const origin of [others.http, others.https]) {
      const path = `${destinationProxyPath('edge-1', origin)}/a?x=1`;
      const answers = Array.from({ length: MANY }, async () => {
        const { status, body } = await client.request({ method: 'GET', path });
        return `${status} ${(await readBody(body, origin)).toString()}`;
      });
      assert.deepEqual(new Set(await Promise.all(answers)), new Set(['200 GET /a?x=1 ']));
      const { headers, check } = requestWebSocket(['chat']);
      const answer = await client.transport.upgrade({ method: 'GET', path, headers });
      assert.ok('socket' in answer, String(answer.status));
      assert.equal(check(answer.headers), 'chat');
      answer.socket.destroy();
    }
    const { port } = new URL(others.http);
    const path = destinationProxyPath('edge-1', `https://127.0.0.1:${port}`);
    const { status, body } = await client.request({ method: 'GET', path });
    assert.equal(status, 403);
    assert.match((await readBody(body, path)).toString(), /is not among the destinations of this agent/);
  });

  test('the one that does not lead is killed: calls arrive again within seconds, and a watch begun then runs', async () => {
    await second.kill();
    await eventually(async () => assert.equal(await addresses(), 1));
    await reachable(fleet.host.client, 'edge-1');
    const versions = Array.from({ length: MANY }, () => memberVersion(fleet.host.client, 'edge-1'));
    await Promise.all(versions);
    const path = `${memberProxyPath('edge-1')}/api/v1/namespaces?watch=1`;
    const { body } = await fleet.host.client.request({ method: 'GET', path, long: true });
    for await (const line of readLines(body, 'edge-1')) {
      assert.match(line.toString(), /^\{"type":"ADDED"/);
      break;
    }
  });

  test('it is back, the leader is told to stop: not one call fails meanwhile, and clusters stay Ready', async () => {
    await second.start();
    await eventually(async () => assert.equal(await addresses(), 2), 30_000);
    await allAnswered(fleet.host.client, async () => {
      await first.stop();
      await second.printed(/^leading$/m, AbortSignal.timeout(25_000));
    });
    await fleet.kubectl.run(['get', '--raw', `${memberProxyPath('edge-1')}/api/v1/namespaces/default`]);
    const { status } = await fleet.host.client.resource(CLUSTERS).get({ name: 'edge-1' });
    assert.ok(isConditionTrue(status?.conditions, 'Ready'));
  });

  test('nor does one where it is back, and told to stop without leading', async () => {
    await first.start();
    await eventually(async () => assert.equal(await addresses(), 2), 30_000);
    await allAnswered(fleet.host.client, async () => {
      await first.stop();
      await eventually(async () => assert.equal(await addresses(), 1));
    });
  });
});

/** Calls without a pause, from before `happens` until after it: each is answered. */
async function allAnswered(client: Client, happens: () => Promise<void>): Promise<void> {
  const over = new AbortController();
  const callers = Promise.all(Array.from({ length: CALLERS }, () => callOnAndOn(client, over.signal)));
  await happens().finally(() => over.abort());
  const outcomes = (await callers).flat();
  assert.ok(outcomes.length > MANY, `${outcomes.length} calls`);
  assert.deepEqual(
    outcomes.filter((outcome) => outcome !== 'answered'),
    [],
  );
}

/** Calls the member again as soon as it has answered, as its callers do: through the aggregator. What became of each call. */
async function callOnAndOn(client: Client, signal: AbortSignal): Promise<string[]> {
  const outcomes: string[] = [];
  while (!signal.aborted) {
    const call = memberVersion(client, 'edge-1');
    outcomes.push(await call.then(() => 'answered', String));
  }
  return outcomes;
}
