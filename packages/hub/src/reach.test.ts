import assert from 'node:assert/strict';
import type { Duplex } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import type { TestServer } from '@asterism/apiserver/testing';
import { untilObject } from '@asterism/apiserver/testing';
import { type Client, createClient, readBody, withBasePath } from '@asterism/client';
import { CALLERS_ROLE, CLUSTERS, memberProxyPath } from '@asterism/fleet/api';
import {
  CLUSTER_ROLES,
  CONFIG_MAPS,
  isStatusError,
  type KubeObject,
  NAMESPACES,
  type StatusReason,
} from '@asterism/machinery';
import { echo } from './testing/echo.ts';
import { grant } from './testing/grant.ts';
import { apply, call, TestFleet } from './testing/test-fleet.ts';

const refused = (reason: StatusReason, says: RegExp) => (error: unknown) => {
  assert.ok(isStatusError(error), String(error));
  assert.equal(error.reason, reason);
  assert.match(error.message, says);
  return true;
};

/** Everything of a stream until its end. */
const drain = async (socket: Duplex): Promise<string> => (await readBody(socket as never, 'the echo')).toString();

for (const syncMode of ['Pull', 'Push'] as const) {
  describe(`reaching a member in ${syncMode}`, () => {
    let fleet: TestFleet;
    let member: TestServer;
    let ann: Client;
    /** The member, as Ann, through the hub. */
    let remote: Client;

    before(async () => {
      fleet = await TestFleet.start();
      member = await fleet.startMember(syncMode, { extensions: [echo()] });
      const readers = { kind: 'Group' as const, name: 'team a, readers' };
      await apply(member.client, [
        ...grant('readers', readers, { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }),
        ...grant(
          'ann',
          { kind: 'User', name: 'ann' },
          { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
        ),
        ...grant(
          'echo',
          { kind: 'User', name: 'ann' },
          { apiGroups: ['echo.example'], resources: ['*'], verbs: ['*'] },
        ),
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' }, data: { x: '1' } },
      ]);
      const proxy = { apiGroups: ['proxy.asterism.dev'], resources: ['clusters/proxy'], verbs: ['*'] };
      await apply(fleet.hub.client, [
        ...grant(
          'people',
          { kind: 'Group', name: 'people' },
          { ...proxy, resourceNames: ['edge-1', 'edge-9', 'edge-10'] },
        ),
      ]);
      const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
      const endpoint = { server: member.url };
      await fleet.join(member, { token, syncMode, ...(syncMode === 'Push' ? { endpoint } : {}) }).ready;
      // The member's RBAC speaks of a group that the hub's does not.
      const groups = ['team a, readers'];
      await fleet.hub.client
        .resource(CLUSTERS)
        .patch({ name: 'edge-1' }, { type: 'merge', body: { spec: { reach: { groups } } } });
      await untilObject(member.client, CLUSTER_ROLES, { name: CALLERS_ROLE }, (role) =>
        (role?.rules ?? []).some(({ resourceNames = [] }) => resourceNames.includes('team a, readers')),
      );
      await fleet.reached('edge-1');
      ann = await fleet.person('ann', 'people', 'team a, readers');
      remote = throughHub(ann);
    });

    after(() => fleet[Symbol.asyncDispose]());

    const throughHub = (client: Client, cluster = 'edge-1'): Client =>
      createClient({ transport: withBasePath(client.transport, memberProxyPath(cluster)) });

    test('the member sees the caller: name, groups with all their letters, nothing of the hub’s', async () => {
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
      const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
      const answer = await call(remote, 'POST', path, { body });
      assert.equal(answer.status, 201, answer.body);
      const { status } = JSON.parse(answer.body) as { status: { userInfo: { username: string; groups: string[] } } };
      assert.equal(status.userInfo.username, 'ann');
      assert.deepEqual(status.userInfo.groups.toSorted(), ['people', 'system:authenticated', 'team a, readers']);
    });

    test('the member’s RBAC decides: what it allows works, what it does not is its own refusal', async () => {
      const maps = remote.resource(CONFIG_MAPS);
      assert.deepEqual((await maps.get({ namespace: 'default', name: 'a' })).data, { x: '1' });
      assert.ok((await maps.list({ namespace: 'default' })).items.some(({ metadata }) => metadata?.name === 'a'));
      const cannot = refused('Forbidden', /User "ann" cannot delete resource "configmaps"/);
      await assert.rejects(maps.delete({ namespace: 'default', name: 'a' }), cannot);
      await assert.rejects(remote.resource(NAMESPACES).list(), refused('Forbidden', /User "ann" cannot list/));
    });

    test('a watch tells of a change while it runs', async () => {
      const signal = AbortSignal.timeout(5_000);
      const events = remote.resource(CONFIG_MAPS).watch({ namespace: 'default', signal })[Symbol.asyncIterator]();
      const seen: string[] = [];
      for (let next = await events.next(); !next.done; next = await events.next()) {
        const { object } = next.value as { object: KubeObject };
        seen.push(object.metadata?.name ?? '');
        if (seen.includes('watched')) break;
        if (seen.length === 1) await member.client.resource(CONFIG_MAPS).create(configMap('watched', 'x'));
      }
      await events.return?.();
      assert.ok(seen.includes('watched'));
    });

    test('large bodies go both ways as they are', async () => {
      const data = 'ä'.repeat(400_000);
      await remote.resource(CONFIG_MAPS).create(configMap('large', data));
      const there = await member.client.resource(CONFIG_MAPS).get({ namespace: 'default', name: 'large' });
      assert.equal(there.data?.['x'], data);
      const back = await remote.resource(CONFIG_MAPS).get({ namespace: 'default', name: 'large' });
      assert.equal(back.data?.['x'], data);
    });

    test('paths and queries arrive as they are', async () => {
      const list = await call(
        remote,
        'GET',
        '/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Da&limit=1',
      );
      assert.equal((JSON.parse(list.body) as { items: unknown[] }).items.length, 1);
      assert.equal((await call(remote, 'GET', '/api/v1/namespaces/default/configmaps/no%20such')).status, 404);
      // The member reads an encoded slash as a slash, as a kube-apiserver does: a subresource, to which the caller has no right.
      const { status, body } = await call(remote, 'GET', '/api/v1/namespaces/default/configmaps/no%2Fsuch');
      assert.equal(status, 403);
      assert.match(body, /cannot get resource \\"configmaps\/such\\"/);
    });

    test('nobody becomes somebody else by what a call says', async () => {
      const claims = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' };
      assert.equal(
        (await call(remote, 'DELETE', '/api/v1/namespaces/default/configmaps/a', { headers: claims })).status,
        403,
      );
      const headers = { 'impersonate-user': 'root', 'impersonate-group': 'system:masters' };
      const claimed = await call(remote, 'DELETE', '/api/v1/namespaces/default/configmaps/a', { headers });
      assert.equal(claimed.status, 403);
      assert.match(claimed.body, /cannot impersonate/, 'the hub refuses it, it never gets to the member');
    });

    test('the power that somebody has in the hub stays there', async () => {
      const root = throughHub(await fleet.person('root', 'system:masters'));
      const cannot = refused('Forbidden', /User "root" cannot list resource "configmaps"/);
      await assert.rejects(root.resource(CONFIG_MAPS).list(), cannot);
      const system = throughHub(await fleet.person('system:kube-scheduler', 'system:masters'));
      await assert.rejects(system.resource(CONFIG_MAPS).list(), refused('Forbidden', /is the hub's own/));
    });

    test('who may not use the proxy is refused by the hub', async () => {
      const carl = throughHub(await fleet.person('carl', 'team a, readers'));
      await assert.rejects(carl.resource(CONFIG_MAPS).list(), refused('Forbidden', /User "carl".*clusters\/proxy/));
    });

    test('a cluster that there is not, and one that is not there', async () => {
      const none = throughHub(ann, 'edge-9').resource(CONFIG_MAPS);
      await assert.rejects(none.list(), refused('NotFound', /clusters\.asterism\.dev "edge-9" not found/));
      const away = await fleet.startMember(syncMode);
      const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
      const options = { clusterName: 'edge-10', syncMode, token, endpoint: { server: away.url } };
      const agent = fleet.join(away, options);
      await agent.ready;
      await agent.stop();
      await away.stop();
      const gone = throughHub(ann, 'edge-10').resource(CONFIG_MAPS);
      await assert.rejects(gone.list(), refused('ServiceUnavailable', /cluster "edge-10" cannot be reached/));
    });

    test('an upgrade is a pipe, under the caller’s name; each side may end its half', async () => {
      const answer = await remote.transport.upgrade({
        method: 'POST',
        path: '/apis/echo.example/v1/echoes/e/connect?stdin=1',
        headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1' },
      });
      assert.ok('socket' in answer, `status ${answer.status}`);
      assert.equal(answer.headers['upgrade'], 'SPDY/3.1');
      assert.equal(answer.headers['x-user'], 'ann');
      answer.socket.allowHalfOpen = true;
      const received = drain(answer.socket);
      answer.socket.write('x'.repeat(3_000_000));
      answer.socket.end('the end');
      const text = await received;
      assert.deepEqual([text.length, text.slice(-7)], [3_000_007, 'the end']);
    });

    test('an upgrade that the member refuses is its ordinary answer', async () => {
      const carl = throughHub(await fleet.person('carl', 'people'));
      const answer = await carl.transport.upgrade({
        method: 'POST',
        path: '/apis/echo.example/v1/echoes/e/connect',
        headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1' },
      });
      assert.ok(!('socket' in answer));
      assert.equal(answer.status, 403);
      assert.match((await readBody(answer.body, 'edge-1')).toString(), /User \\"carl\\" cannot create/);
    });

    test('an upgrade to a cluster that there is not is told so', async () => {
      const answer = await throughHub(ann, 'edge-9').transport.upgrade({
        method: 'GET',
        path: '/api/v1/namespaces/a/pods/b/exec',
        headers: { connection: 'Upgrade', upgrade: 'websocket' },
      });
      assert.ok(!('socket' in answer));
      assert.equal(answer.status, 404);
      assert.match((await readBody(answer.body, 'edge-9')).toString(), /"reason":"NotFound"/);
    });
  });
}

function configMap(name: string, x: string) {
  return { metadata: { name, namespace: 'default' }, data: { x } };
}
