import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { issueCertificate } from '@asterism/apiserver';
import { createClient, createTransport, readBody } from '@asterism/client';
import { CALLERS_ROLE, memberProxyPath, PROXY_GROUP } from '@asterism/fleet/api';
import { CLUSTER_ROLES, type ClusterRole, parseJson } from '@asterism/machinery';
import { CONTROL_PLANE_BINARIES, ControlPlane } from '../../cluster/control-plane.ts';
import { EmbeddedHub } from '../../cluster/embedded-hub.ts';
import { joinMember, type Member, type OpenHub, openHub } from '../../cluster/fleet.ts';
import { writeKubeconfig } from '../../cluster/kubeconfig-file.ts';
import { Kubectl } from '../../cluster/kubectl.ts';
import { Lab } from '../../cluster/lab.ts';
import { requiredBinary, unlessThere } from '../../cluster/real-kubernetes.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import { until } from '../../cluster/until.ts';
import { eventually } from '../../demo/aster-up.ts';

const VERSIONS = ['1.20', '1.36'] as const;
const skip = unlessThere(...CONTROL_PLANE_BINARIES, ...VERSIONS.map((version) => `kubectl-${version}`));

const POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', resources: [{ group: PROXY_GROUP, resources: ['clusters/proxy'] }] }],
};

/** What is looked at of an audit event. */
interface AuditLine {
  stage: string;
  user: { username: string };
  responseStatus?: { code: number };
  annotations?: Record<string, string>;
}

/** In the members: what Ann and the group ops may do there. Nothing of it stands in the hub. */
const IN_MEMBERS = [
  ['create', 'namespace', 'demo'],
  ['create', 'configmap', 'a', '--namespace=demo', '--from-literal=x=1'],
  ['create', 'rolebinding', 'ann', '--namespace=demo', '--clusterrole=view', '--user=ann'],
  ['create', 'rolebinding', 'ops', '--namespace=demo', '--clusterrole=edit', '--group=ops'],
];

const MAP = '/api/v1/namespaces/demo/configmaps/a';

const PROXY = ['--verb=*', `--resource=clusters.${PROXY_GROUP}/proxy`];

describe('who may do what in a real member, through the hub', { skip }, () => {
  const parts = new AsyncDisposableStack();
  let run: RunFolder;
  let hub: OpenHub;
  let dataDir: string;
  let auditLog: string;
  let lab: Lab;
  let alder: Member;
  let cedar: Member;

  before(async () => {
    run = parts.use(await RunFolder.open());
    const audit = await run.folder('audit');
    auditLog = join(audit, 'audit.log');
    const policy = join(audit, 'policy.yaml');
    await writeFile(policy, JSON.stringify(POLICY));
    const flags = ['--audit-policy-file', policy, '--audit-log-path', auditLog];
    lab = parts.use(await Lab.start(run, 'cedar'));
    const [started, pushed, pulled] = await Promise.all([
      EmbeddedHub.start(run, flags).then((it) => parts.use(it)),
      ControlPlane.start(run, { name: 'alder' }).then((it) => parts.use(it)),
      ControlPlane.start(run, { name: 'cedar', lab }).then((it) => parts.use(it)),
    ]);
    dataDir = dirname(started.kubeconfig);
    hub = await openHub(run, started, parts);
    await lab.openWayOut(Number(new URL(hub.address).port));
    const within = (command: readonly string[]): string[] => lab.command(command);
    [alder, cedar] = await Promise.all([
      joinMember({ run, hub, parts, name: 'alder', mode: 'push', controlPlane: pushed }),
      joinMember({ run, hub, parts, name: 'cedar', mode: 'pull', controlPlane: pulled, within }),
    ]);
    for (const { kubectl } of [alder, cedar]) for (const args of IN_MEMBERS) await kubectl.run(args);
    // By their names, and not by a group: then members can be told by name who comes.
    await hub.kubectl.run(['create', 'clusterrolebinding', 'admin', '--clusterrole=cluster-admin', '--user=admin']);
    await hub.kubectl.run(['delete', 'clusterrolebinding', 'asterism:admins']);
    await hub.kubectl.run(['create', 'clusterrole', 'reach', ...PROXY]);
    await hub.kubectl.run(['create', 'clusterrolebinding', 'ann', '--clusterrole=reach', '--user=ann']);
  });

  after(() => parts.disposeAsync());

  /** Somebody whom the hub's authority certified, with kubectl of that version, at a member through the hub. */
  const person = async (name: string, groups: string[], cluster: string, version = '1.36'): Promise<Kubectl> => {
    const read = (file: string): Promise<string> => readFile(join(dataDir, 'pki', file), 'utf8');
    const ca = { cert: await read('ca.crt'), key: await read('ca.key') };
    const { cert, key } = await issueCertificate(ca, {
      commonName: name,
      organizations: groups,
      usages: ['client'],
      days: 1,
    });
    const server = hub.address + memberProxyPath(cluster);
    const folder = await run.folder('people', `${name}-${cluster}-${version}`);
    const credential = { kind: 'certificate', cert, key } as const;
    const kubeconfig = await writeKubeconfig(join(folder, 'kubeconfig'), { server, caData: ca.cert, credential });
    return new Kubectl(requiredBinary(`kubectl-${version}`), kubeconfig, folder);
  };

  /** What the member says of who may come to it, as soon as these may (`*`: any). */
  const callers = (member: Member, users: string[], groups: string[]): Promise<ClusterRole> =>
    until(
      member.controlPlane.client,
      CLUSTER_ROLES,
      { name: CALLERS_ROLE },
      ({ rules }) => {
        const named = (resource: string): string[] =>
          (rules ?? []).flatMap((rule) => (rule.resources?.includes(resource) ? (rule.resourceNames ?? ['*']) : []));
        return named('users').join() === users.join() && named('groups').join() === groups.join();
      },
      { timeoutMs: 10_000 },
    );

  /** kubectl says of a discovery that is refused nothing but "unknown". 1.20 takes the path for the server's own. */
  const raw = (cluster: string, version = '1.36'): string[] => {
    return ['get', '--raw', version === '1.20' ? `${memberProxyPath(cluster)}${MAP}` : MAP];
  };

  const fails = async (kubectl: Kubectl, args: string[], says: RegExp): Promise<void> => {
    const { code, stderr } = await kubectl.try(args);
    assert.notEqual(code, 0, `${args.join(' ')} was let through`);
    assert.match(stderr, says);
  };

  for (const name of ['alder', 'cedar'] as const) {
    for (const version of VERSIONS) {
      test(`${name}, kubectl ${version}: what the member’s RBAC allows the caller, and nothing else`, async () => {
        const ann = await person('ann', [], name, version);
        assert.equal(await ann.run(['get', 'configmap', 'a', '-n', 'demo', '-o', 'jsonpath={.data.x}']), '1');
        assert.equal((await ann.run(['auth', 'can-i', 'list', 'pods', '-n', 'demo'])).trim(), 'yes');
        assert.match((await ann.try(['auth', 'can-i', 'delete', 'pods', '-n', 'demo'])).stdout, /^no/);
        const cannot = /User "ann" cannot delete resource "configmaps" in API group "" in the namespace "demo"/;
        await fails(ann, ['delete', 'configmap', 'a', '-n', 'demo'], cannot);
        await fails(ann, ['get', 'nodes'], /User "ann" cannot list resource "nodes"/);
        const carl = await person('carl', ['ops'], name, version);
        await fails(carl, raw(name, version), /User "carl" cannot get resource "clusters\/proxy"/);
      });
    }
  }

  test('hole 1: nobody without a name in the hub, and no name of the system’s, comes to a member', async () => {
    const transport = parts.use(
      createTransport({
        server: hub.address,
        caData: await readFile(join(dataDir, 'pki', 'ca.crt'), 'utf8'),
        credential: { kind: 'none' },
      }),
    );
    const path = `${memberProxyPath('cedar')}/api/v1/namespaces/demo/configmaps`;
    const { status, body } = await transport.request({ method: 'GET', path });
    body.resume();
    assert.equal(status, 403);
    await hub.kubectl.run(['create', 'serviceaccount', 'robot', '-n', 'default']);
    const account = '--serviceaccount=default:robot';
    await hub.kubectl.run(['create', 'clusterrolebinding', 'robot', '--clusterrole=reach', account]);
    const token = (await hub.kubectl.run(['create', 'token', 'robot', '-n', 'default'])).trim();
    const robot = createClient({
      transport: parts.use(
        createTransport({
          server: hub.address,
          caData: await readFile(join(dataDir, 'pki', 'ca.crt'), 'utf8'),
          credential: { kind: 'token', token },
        }),
      ),
    });
    const answer = await robot.request({ method: 'GET', path });
    const text = (await readBody(answer.body, path)).toString();
    assert.equal(answer.status, 403, text);
    assert.match(text, /is the hub's own.*Use a certificate or token of a person or program with a name of its own/);
  });

  test('headers of identity that a caller sends are nobody’s', async () => {
    for (const name of ['alder', 'cedar'] as const) {
      const ann = await person('ann', [], name);
      await fails(ann, ['--as=admin', 'get', 'nodes'], /User "ann" cannot impersonate/);
      const groups = ['--as=ann', '--as-group=system:masters'];
      await fails(ann, [...groups, 'get', 'nodes'], /cannot impersonate/);
    }
  });

  test('the account that acts in a member comes as those alone who may, whoever holds its token', async () => {
    await Promise.all([callers(alder, ['admin', 'ann'], []), callers(cedar, ['admin', 'ann'], [])]);
    const agent = new Kubectl(
      requiredBinary('kubectl-1.36'),
      await writeKubeconfig(join(cedar.controlPlane.folder, 'stolen.kubeconfig'), {
        ...cedar.controlPlane.connection,
        credential: { kind: 'token', token: await tokenOf(cedar, 'asterism-agent') },
      }),
      await run.folder('stolen'),
    );
    await agent.run(['--as=ann', 'get', 'configmap', 'a', '-n', 'demo']);
    const not = /cannot impersonate/;
    await fails(agent, ['--as=bob', 'get', 'configmap', 'a', '-n', 'demo'], not);
    await fails(agent, ['--as=ann', '--as-group=ops', 'get', 'configmap', 'a', '-n', 'demo'], not);
    await fails(agent, ['--as=ann', '--as-group=system:masters', 'get', 'nodes'], not);
    // With the profile `workloads` it cannot give itself more either: permission-profiles.test.ts.
  });

  test('a group that may come: any user, that group; and it goes as it came, within 2 s', async () => {
    await hub.kubectl.run(['create', 'clusterrolebinding', 'ops', '--clusterrole=reach', '--group=ops']);
    for (const [name, member] of [
      ['alder', alder],
      ['cedar', cedar],
    ] as const) {
      const carl = await person('carl', ['ops'], name);
      await eventually(async () => void (await carl.run(['create', 'configmap', 'of-carl', '-n', 'demo'])), 5_000);
      await callers(member, ['*'], ['ops']);
    }
    const carl = await person('carl', ['ops'], 'cedar');
    await hub.kubectl.run(['delete', 'clusterrolebinding', 'ops', 'ann']);
    const removed = performance.now();
    const ann = await person('ann', [], 'alder');
    const shut = /cannot get resource "clusters\/proxy"/;
    await eventually(() => fails(carl, raw('cedar'), shut), 2_000);
    await eventually(() => fails(ann, raw('alder'), shut), 2_000);
    await Promise.all([callers(alder, ['admin'], []), callers(cedar, ['admin'], [])]);
    const took = performance.now() - removed;
    assert.ok(took < 2_000, `the doors were shut after ${Math.round(took)} ms`);
    await hub.kubectl.run(['create', 'clusterrolebinding', 'ann', '--clusterrole=reach', '--user=ann']);
  });

  test('modes: readonly reads, off does nothing', async () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    };
    for (const member of [alder, cedar]) {
      const { name } = member;
      await member.kubectl.run(['create', '-n', 'demo', '-f', '-'], { stdin: JSON.stringify(pod) });
      const admin = await person('admin', [], name);
      const setMode = (mode: string) =>
        hub.kubectl.run([
          'patch',
          'cluster',
          name,
          '--type=merge',
          '-p',
          JSON.stringify({ spec: { reach: { mode } } }),
        ]);
      const exec = ['exec', '-n', 'demo', 'p', '--', 'true'];
      await fails(admin, exec, /does not have a host assigned/);
      await setMode('readonly');
      const why = /does not let this call in: its spec\.reach\.mode is "readonly"/;
      await eventually(() => fails(admin, exec, why), 5_000);
      await fails(admin, ['delete', 'pod', 'p', '-n', 'demo'], why);
      await fails(admin, ['create', 'token', 'default', '-n', 'demo'], why);
      await admin.run(['get', 'pods', '-A']);
      await admin.run(['api-resources']);
      assert.match((await admin.try(['auth', 'can-i', 'delete', 'pods'])).stdout, /^yes/);
      await setMode('off');
      await eventually(() => fails(admin, ['get', 'pods', '-A'], /its spec\.reach\.mode is "off"/), 5_000);
      await setMode('impersonate');
      await eventually(async () => void (await admin.run(['delete', 'pod', 'p', '-n', 'demo', '--now'])), 5_000);
    }
  });

  test('from within one member to another, where the hub’s RBAC lets it', async () => {
    const inside = async (kubectl: Kubectl, ...args: string[]): Promise<string> => {
      // Within the network of cedar, where nothing but its way out leads anywhere.
      const script = kubectl
        .commandLine(args)
        .map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`)
        .join(' ');
      return await lab.shell(`${script} 2>&1 || true`);
    };
    const ann = await person('ann', [], 'alder');
    const get = ['get', 'configmap', 'a', '-n', 'demo', '-o', 'jsonpath={.data.x}'];
    await eventually(async () => assert.equal(await inside(ann, ...get), '1'), 5_000);
    assert.match(await inside(ann, 'get', 'nodes'), /User "ann" cannot list resource "nodes"/);
    const bob = await person('bob', [], 'alder');
    assert.match(await inside(bob, ...raw('alder')), /User "bob" cannot get resource "clusters\/proxy"/);
  });

  test('hole 12: all of it is in the audit log: who, where, what, the outcome; no tokens, no bodies', async () => {
    const text = await readFile(auditLog, 'utf8');
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => parseJson(line) as AuditLine);
    const told = ({ annotations = {} }: AuditLine, name: string): string | undefined =>
      annotations[`${PROXY_GROUP}/${name}`];
    const find = (user: string, verb: string, resource: string, code: number): AuditLine[] =>
      lines.filter(
        (line) =>
          line.user.username === user &&
          told(line, 'verb') === verb &&
          told(line, 'resource') === resource &&
          line.responseStatus?.code === code,
      );
    for (const cluster of ['alder', 'cedar']) {
      const of = (found: AuditLine[]): AuditLine[] => found.filter((line) => told(line, 'cluster') === cluster);
      assert.ok(of(find('ann', 'get', 'configmaps', 200)).length >= 2, 'a call that was served');
      assert.ok(of(find('ann', 'delete', 'configmaps', 403)).length >= 2, 'one that the member refused');
      const refused = of(find('carl', 'get', 'configmaps', 403));
      assert.ok(refused.length >= 2, 'one that the RBAC of the hub refused');
      const [exec] = of(
        lines.filter((line) => told(line, 'resource') === 'pods/exec' && line.responseStatus?.code === 403),
      );
      assert.match(exec ? (told(exec, 'reason') ?? '') : '', /readonly/, 'one that the mode refused');
    }
    const [served] = find('ann', 'get', 'configmaps', 200);
    assert.ok(served);
    assert.equal(served.stage, 'ResponseComplete');
    assert.deepEqual(
      ['api-version', 'namespace', 'name'].map((name) => told(served, name)),
      ['v1', 'demo', 'a'],
    );
    assert.ok(Number(told(served, 'bytes-out')) > 0);
    assert.doesNotMatch(text, /Bearer|eyJ|"data":/);
  });

  async function tokenOf({ kubectl }: Member, account: string): Promise<string> {
    return (await kubectl.run(['create', 'token', account, '-n', 'asterism-system'])).trim();
  }
});
