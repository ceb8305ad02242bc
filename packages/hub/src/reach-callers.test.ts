import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { UserInfo } from '@asterism/apiserver';
import type { TestServer } from '@asterism/apiserver/testing';
import { untilObject } from '@asterism/apiserver/testing';
import { type Client, createClient, withBasePath } from '@asterism/client';
import {
  CALLERS_CONFIG_MAP,
  CALLERS_ROLE,
  clusterNamespace,
  CLUSTERS,
  FIXED_CALLERS_ANNOTATION,
  HUB_SERVICE_ACCOUNT,
  memberProxyPath,
  PROXY_GROUP,
  SYSTEM_NAMESPACE,
} from '@asterism/fleet/api';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  type ClusterRole,
  CONFIG_MAPS,
  type PolicyRule,
} from '@asterism/machinery';
import { type Logger, silentLogger } from '@asterism/runtime';
import { grant } from './testing/grant.ts';
import { AGENT, apply, call, TestFleet } from './testing/test-fleet.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const PROXY: PolicyRule = { apiGroups: [PROXY_GROUP], resources: ['clusters/proxy'], verbs: ['*'] };

/** Who acts in the member: the hub where it dials, else the agent. */
const ACTING: Record<'Pull' | 'Push', UserInfo> = {
  Pull: AGENT,
  Push: { ...AGENT, username: `system:serviceaccount:${SYSTEM_NAMESPACE}:${HUB_SERVICE_ACCOUNT}` },
};

for (const syncMode of ['Pull', 'Push'] as const) {
  describe(`as whom the hub may come to a member in ${syncMode}`, () => {
    let fleet: TestFleet;
    let member: TestServer;
    /** Everything in the hub, and named by no rule there. */
    let root: Client;
    let ann: Client;

    before(async () => {
      fleet = await TestFleet.start();
      member = await fleet.startMember(syncMode);
      const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
      await apply(member.client, [
        ...grant('ann', { kind: 'User', name: 'ann' }, everything),
        ...grant('masters', { kind: 'Group', name: 'team' }, everything),
      ]);
      const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
      const endpoint = { server: member.url };
      await fleet.join(member, { token, syncMode, ...(syncMode === 'Push' ? { endpoint } : {}) }).ready;
      root = await fleet.person('root', 'system:masters');
      ann = through(await fleet.person('ann', 'team'));
    });

    after(() => fleet[Symbol.asyncDispose]());

    const through = (client: Client): Client =>
      createClient({ transport: withBasePath(client.transport, memberProxyPath('edge-1')) });

    /** The role in the member, as soon as it names these users and groups (`*`: any). */
    const callers = (users: string[], groups: string[]): Promise<ClusterRole | undefined> =>
      untilObject(member.client, CLUSTER_ROLES, { name: CALLERS_ROLE }, (role) => {
        const named = (resource: string): string[] =>
          (role?.rules ?? []).flatMap((rule) =>
            rule.resources?.includes(resource) && rule.apiGroups?.includes('') ? (rule.resourceNames ?? ['*']) : [],
          );
        return named('users').join() === users.join() && named('groups').join() === groups.join();
      });

    /** A call straight to the member, as the account that acts there and in somebody's name. */
    const inNameOf = (user: string, ...groups: string[]) => {
      const client = fleet.client(member.connectionAs(ACTING[syncMode]));
      return client.request({
        method: 'GET',
        path: MAPS,
        headers: { 'impersonate-user': user, ...(groups.length > 0 ? { 'impersonate-group': groups } : {}) },
      });
    };

    test('where a group of the hub may come, any user may, and that group', async () => {
      await callers(['*'], ['asterism:admins']);
      assert.equal((await inNameOf('anybody')).status, 403, 'the member says what it may');
    });

    test('where no group may, nobody but who is named; nobody named is nobody', async () => {
      await root.resource(CLUSTER_ROLE_BINDINGS).delete({ name: 'asterism:admins' });
      const role = await callers([], []);
      assert.deepEqual(role?.rules ?? [], []);
    });

    test('who comes by something else than a binding is a caller by name, for as long as RBAC stays as it is', async () => {
      const answer = await call(through(root), 'GET', MAPS);
      assert.equal(answer.status, 403);
      assert.match(
        answer.body,
        /User \\"root\\" cannot list resource \\"configmaps\\"/,
        'it is the member that refuses',
      );
      await callers(['root'], []);
    });

    test('users by name, also by a role that is put together of others', async () => {
      const labels = { 'example.org/aggregate-to-reach': 'true' };
      const [, binding] = grant('reach', { kind: 'User', name: 'ann' }, PROXY);
      await apply(root, [
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRole',
          metadata: { name: 'reach' },
          aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] },
        },
        binding,
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRole',
          metadata: { name: 'reach-edge-1', labels },
          rules: [{ ...PROXY, resourceNames: ['edge-1'] }],
        },
      ]);
      await callers(['ann'], []);
      assert.equal((await call(ann, 'GET', MAPS)).status, 200);
    });

    test('the account that acts in the member may come as nobody else, whoever holds it', async () => {
      assert.equal((await inNameOf('ann')).status, 200);
      for (const [user, ...groups] of [
        ['bob'],
        ['ann', 'team'],
        ['ann', 'system:masters'],
        ['system:admin'],
      ] as const) {
        const answer = await inNameOf(user, ...groups);
        assert.equal(answer.status, 403, `${user} ${groups.join()}`);
      }
    });

    test('callers that an administrator of the member fixed stay, until they are not fixed any more', async () => {
      const roles = member.client.resource(CLUSTER_ROLES);
      const rules = [{ apiGroups: [''], resources: ['users'], resourceNames: ['zoe'], verbs: ['impersonate'] }];
      const annotations = { [FIXED_CALLERS_ANNOTATION]: 'true' };
      await roles.patch({ name: CALLERS_ROLE }, { type: 'merge', body: { metadata: { annotations }, rules } });
      // This makes the hub look at the role.
      await root
        .resource(CLUSTERS)
        .patch({ name: 'edge-1' }, { type: 'merge', body: { spec: { reach: { groups: ['other'] } } } });
      await untilObject(root, CONFIG_MAPS, { namespace: clusterNamespace('edge-1'), name: CALLERS_CONFIG_MAP }, (map) =>
        JSON.stringify(map?.data).includes('other'),
      );
      assert.deepEqual((await roles.get({ name: CALLERS_ROLE })).rules, rules);
      const free = { metadata: { annotations: { [FIXED_CALLERS_ANNOTATION]: null } } };
      await roles.patch({ name: CALLERS_ROLE }, { type: 'merge', body: free });
      await callers(['ann'], ['other']);
      await root.resource(CLUSTERS).patch({ name: 'edge-1' }, { type: 'merge', body: { spec: { reach: null } } });
      await callers(['ann'], []);
    });

    test('a group comes along that the Cluster names; of others a refused caller is told', async () => {
      const carl = through(await fleet.person('root', 'system:masters', 'payroll', 'größe'));
      const { status, headers, body } = await carl.request({ method: 'GET', path: MAPS });
      body.resume();
      assert.equal(status, 403);
      assert.match(String(headers['warning']), /^299 - "these groups of yours are not known .*: payroll, gr\?\?e"$/);
      assert.equal((await inNameOf('ann', 'team')).status, 403);
      await root
        .resource(CLUSTERS)
        .patch({ name: 'edge-1' }, { type: 'merge', body: { spec: { reach: { groups: ['team'] } } } });
      await callers(['ann'], ['team']);
    });

    test('what somebody writes into the role is put right', async () => {
      const rules = [{ apiGroups: [''], resources: ['users', 'groups'], verbs: ['impersonate'] }];
      await member.client.resource(CLUSTER_ROLES).patch({ name: CALLERS_ROLE }, { type: 'merge', body: { rules } });
      await callers(['ann'], ['team']);
      await member.client.resource(CLUSTER_ROLES).delete({ name: CALLERS_ROLE });
      await callers(['ann'], ['team']);
    });

    test('without the binding the door is shut, in the hub and in the member', async () => {
      const before = performance.now();
      await root.resource(CLUSTER_ROLE_BINDINGS).delete({ name: 'reach' });
      for (const late = AbortSignal.timeout(5_000); (await call(ann, 'GET', MAPS)).status !== 403; ) {
        assert.ok(!late.aborted, 'ann still comes in');
      }
      await callers([], []);
      assert.ok(performance.now() - before < 2_000);
      for (const late = AbortSignal.timeout(5_000); (await inNameOf('ann')).status !== 403; ) {
        assert.ok(!late.aborted, 'the account still comes as ann');
      }
    });
  });
}

test('a member with the manifests of before: its agent says what to do', async () => {
  await using fleet = await TestFleet.start();
  const member = await fleet.startMember();
  const { rules = [] } = await member.client.resource(CLUSTER_ROLES).get({ name: 'asterism:agent' });
  const before = rules.filter(({ verbs }) => !verbs.includes('escalate'));
  await member.client
    .resource(CLUSTER_ROLES)
    .patch({ name: 'asterism:agent' }, { type: 'merge', body: { rules: before } });
  const told = Promise.withResolvers<string>();
  const warn = (_: unknown, message: string): void => {
    if (message.includes(CALLERS_ROLE)) told.resolve(message);
  };
  const logger: Logger = { ...silentLogger, warn, child: () => logger };
  const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
  await fleet.join(member, { token, logger }).ready;
  assert.match(await told.promise, /apply anew what `aster agent manifests` prints/);
});
