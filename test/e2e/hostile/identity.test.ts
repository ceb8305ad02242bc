import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTransport, readBody } from '@asterism/client';
import { memberProxyPath, PROXY_GROUP } from '@asterism/fleet/api';
import { connectionOf } from '../../cluster/connection-of.ts';
import { CONTROL_PLANE_BINARIES, ControlPlane } from '../../cluster/control-plane.ts';
import { EmbeddedHub } from '../../cluster/embedded-hub.ts';
import { joinMember, type Member, type OpenHub, openHub } from '../../cluster/fleet.ts';
import type { FleetHub } from '../../cluster/fleet-hub.ts';
import { KubernetesHub } from '../../cluster/kubernetes-hub.ts';
import { unlessThere } from '../../cluster/real-kubernetes.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import { eventually } from '../../demo/aster-up.ts';

/** The letters of `admin`, each 256 code points higher; names in Latin-1 and beyond; one whose last byte looks like a blank. */
const NAMES = ['šŤŭũŮ', 'Jürgen', '山田', 'Zoà'];
/** Names that a receiver would cut, or could not read. */
const BENT = [' admin', 'admin\t', ' system:kube-controller-manager'];
const SECRETS = '/api/v1/namespaces/kube-system/secrets';
const RBAC = 'rbac.authorization.k8s.io';

/** The hub’s right to call members, for each of the names. */
const rights = (names: readonly string[]): object => ({
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: { name: 'hostile' },
      rules: [{ apiGroups: [PROXY_GROUP], resources: ['clusters/proxy'], verbs: ['*'] }],
    },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'hostile' },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'hostile' },
      subjects: names.map((name) => ({ apiGroup: RBAC, kind: 'User', name })),
    },
  ],
});

for (const [form, startHub] of [
  ['an embedded hub', (run: RunFolder): Promise<FleetHub> => EmbeddedHub.start(run)],
  ['a hub on a kube-apiserver', (run: RunFolder): Promise<FleetHub> => KubernetesHub.start(run)],
] as const) {
  describe(`hostile names of callers, ${form}`, {
    skip: unlessThere(...CONTROL_PLANE_BINARIES, 'kubectl-1.36'),
  }, () => {
    const parts = new AsyncDisposableStack();
    let hub: OpenHub;
    let members: Member[];

    before(async () => {
      const run = parts.use(await RunFolder.open());
      const starting = [
        startHub(run).then((it) => parts.use(it)),
        ControlPlane.start(run, { name: 'alder' }).then((it) => parts.use(it)),
        ControlPlane.start(run, { name: 'cedar' }).then((it) => parts.use(it)),
      ] as const;
      await Promise.allSettled(starting);
      const [started, alder, cedar] = await Promise.all(starting);
      hub = await openHub(run, started, parts);
      members = await Promise.all([
        joinMember({ run, hub, parts, name: 'alder', mode: 'push', controlPlane: alder }),
        joinMember({ run, hub, parts, name: 'cedar', mode: 'pull', controlPlane: cedar }),
      ]);
      await hub.kubectl.run(['apply', '-f', '-'], { stdin: JSON.stringify(rights([...NAMES, ...BENT])) });
      for (const { kubectl } of members) {
        await kubectl.run(['create', 'rolebinding', 'read', '-n', 'kube-system', '--clusterrole=view', '--user=山田']);
      }
    });

    after(() => parts.disposeAsync());

    const as = async (user: string, member: Member, path: string): Promise<{ code: number; said: string }> => {
      const { code, stdout, stderr } = await hub.kubectl.try([
        'get',
        '--raw',
        memberProxyPath(member.name) + path,
        `--as=${user}`,
      ]);
      return { code: code ?? -1, said: stdout + stderr };
    };

    test('a name of any script is that name in a member, in Push and Pull, and nobody else', async () => {
      for (const member of members) {
        for (const name of NAMES) {
          await eventually(async () => {
            const { code, said } = await as(name, member, SECRETS);
            assert.notEqual(code, 0, `${name} reads the Secrets of ${member.name}`);
            assert.ok(said.includes(`User "${name}" cannot list resource "secrets"`), said);
          });
        }
        // A right of exactly that name counts.
        const { code, said } = await as('山田', member, '/api/v1/namespaces/kube-system/configmaps');
        assert.equal(code, 0, said);
      }
    });

    test('the same over an upgrade', async () => {
      const connection = await connectionOf(hub.hub.kubeconfig);
      for (const member of members) {
        for (const user of NAMES) {
          await using transport = createTransport({ ...connection, impersonate: { user } });
          const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1' };
          const path = memberProxyPath(member.name) + SECRETS;
          const answer = await transport.upgrade({ method: 'GET', path, headers });
          assert.ok(!('socket' in answer));
          const said = (await readBody(answer.body, path)).toString();
          assert.equal(answer.status, 403, said);
          assert.ok(said.includes(`"${user}\\" cannot list`) || said.includes(`User \\"${user}\\"`), said);
        }
      }
    });

    test('a name that would become another one is refused with 403, and no Secret is read', async () => {
      for (const member of members) {
        for (const name of BENT) {
          const { code, said } = await as(name, member, SECRETS);
          assert.notEqual(code, 0, `${JSON.stringify(name)} reads the Secrets of ${member.name}`);
          assert.match(said, /Forbidden|forbidden/);
          assert.ok(!said.includes('SecretList'), said);
        }
      }
    });
  });
}
