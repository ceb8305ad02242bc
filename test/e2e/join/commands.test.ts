import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Client, createClient, createTransport } from '@asterism/client';
import { type Cluster, CLUSTERS, clusterNamespace, SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  CONFIG_MAPS,
  DEPLOYMENTS,
  isConditionTrue,
  type KubeObject,
  NAMESPACES,
  SECRETS,
} from '@asterism/machinery';
import { connectionOf } from '../../cluster/connection-of.ts';
import { asterService, runAster } from '../../cluster/aster.ts';
import { CONTROL_PLANE_BINARIES, ControlPlane } from '../../cluster/control-plane.ts';
import type { Daemon } from '../../cluster/daemon.ts';
import { EmbeddedHub } from '../../cluster/embedded-hub.ts';
import { freePort } from '../../cluster/free-port.ts';
import { writeKubeconfig } from '../../cluster/kubeconfig-file.ts';
import { Kubectl } from '../../cluster/kubectl.ts';
import { requiredBinary, unlessThere } from '../../cluster/real-kubernetes.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import { until } from '../../cluster/until.ts';
import { untilGone } from '../../cluster/until-gone.ts';
import { ASTER } from '../../demo/aster-up.ts';

const NEEDED = [...CONTROL_PLANE_BINARIES, 'kubectl-1.36', 'kubectl-1.20'] as const;

describe('clusters come and go by command, real ones', { skip: unlessThere(...NEEDED) }, () => {
  const parts = new AsyncDisposableStack();
  let run: RunFolder;
  let hub: EmbeddedHub;
  /** As the hub's administrator. */
  let client: Client;
  let oak: ControlPlane;
  let elm: ControlPlane;
  let agent: Daemon;

  before(async () => {
    run = await RunFolder.open();
    parts.defer(() => run[Symbol.asyncDispose]());
    const starting = [
      EmbeddedHub.start(run).then((each) => parts.use(each)),
      ControlPlane.start(run, { name: 'oak' }).then((each) => parts.use(each)),
      ControlPlane.start(run, { name: 'elm' }).then((each) => parts.use(each)),
    ] as const;
    await Promise.allSettled(starting);
    [hub, oak, elm] = await Promise.all(starting);
    const transport = parts.use(createTransport(await connectionOf(hub.kubeconfig)));
    client = createClient({ transport, userAgent: 'test' });
  });
  after(() => parts.disposeAsync());

  /** `aster …` at the hub. */
  const aster = (...args: string[]): Promise<string> => runAster(args, { KUBECONFIG: hub.kubeconfig });

  /** The same, whatever it ends with. */
  function tried(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const environment = { ...process.env, KUBECONFIG: hub.kubeconfig };
    return new Promise((resolve) => {
      execFile(process.execPath, [...ASTER, ...args], { env: environment }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
      );
    });
  }

  const kubectlOf = async (binary: string, member: ControlPlane): Promise<Kubectl> =>
    new Kubectl(requiredBinary(binary), member.kubeconfig, await run.folder(member.name, binary));

  const isReady = (cluster: Cluster | undefined): boolean => isConditionTrue(cluster?.status?.conditions, 'Ready');

  async function nothingOfTheJoinIsLeft({ client: member }: ControlPlane): Promise<void> {
    for (const name of ['asterism:agent', 'asterism:hub', 'asterism:callers']) {
      await untilGone(member, CLUSTER_ROLE_BINDINGS, { name });
      await untilGone(member, CLUSTER_ROLES, { name });
    }
    await untilGone(member, NAMESPACES, { name: SYSTEM_NAMESPACE });
  }

  /** Places a ConfigMap of this name in the cluster, and waits for it there. */
  async function place(name: string, cluster: ControlPlane): Promise<void> {
    const metadata = { namespace: 'default', name };
    const resourceSelectors = [{ apiVersion: 'v1', kind: 'ConfigMap', name }];
    const placement = { clusterAffinity: { clusterNames: [cluster.name] } };
    const policy = { apiVersion: 'asterism.dev/v1alpha1', kind: 'PropagationPolicy', metadata };
    await client.resource(CONFIG_MAPS).create({ metadata, data: { colour: 'green' } });
    const type = await client.discovery.typeFor(policy);
    await client.resource(type).create({ ...policy, spec: { resourceSelectors, placement } } as KubeObject);
    await until(cluster.client, CONFIG_MAPS, metadata, () => true);
  }

  /** The agent, as its Deployment would run it: its arguments, its mounts, its service account. */
  async function startAgent({ folder, server, pki, client: member, name }: ControlPlane, kubectl: Kubectl) {
    const mount = join(folder, 'mount');
    await mkdir(mount);
    const at = { namespace: SYSTEM_NAMESPACE };
    const { data = {} } = await member.resource(SECRETS).get({ ...at, name: 'agent-bootstrap' });
    for (const [file, text] of Object.entries(data)) await writeFile(join(mount, file), Buffer.from(text, 'base64'));
    const { spec } = await member.resource(DEPLOYMENTS).get({ ...at, name: 'asterism-agent' });
    const [container] = spec?.template?.spec?.containers ?? [];
    const port = await freePort();
    const args = (container?.args ?? []).map((arg) =>
      arg.replace('/var/run/asterism', mount).replace('0.0.0.0:8081', `127.0.0.1:${port}`),
    );
    const account = ['--namespace', SYSTEM_NAMESPACE, spec?.template?.spec?.serviceAccountName ?? ''];
    const token = (await kubectl.run(['create', 'token', '--duration=24h', ...account])).trim();
    const kubeconfig = await writeKubeconfig(join(folder, 'agent.kubeconfig'), {
      server,
      caData: pki.ca.cert,
      credential: { kind: 'token', token },
    });
    const log = join(folder, 'agent.log');
    agent = parts.use(asterService({ name: `agent of ${name}`, args: [...args, `--kubeconfig=${kubeconfig}`], log }));
    await agent.start();
    await agent.printed(/^ready /m, AbortSignal.timeout(60_000));
    assert.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200);
  }

  test('token create, join --manifest, kubectl apply of either version, and the agent of that manifest', async () => {
    const command = await aster('token', 'create', '--auto-approve', '--ttl', '10m', '--cluster', 'oak');
    const words = command.trim().split(' ').slice(1);
    const manifest = await runAster([...words, '--manifest', '--image', 'registry.example/agent:1']);
    const kubectl = await kubectlOf('kubectl-1.36', oak);
    await kubectl.run(['apply', '-f', '-'], { stdin: manifest });
    const again = await (await kubectlOf('kubectl-1.20', oak)).run(['apply', '-f', '-'], { stdin: manifest });
    assert.match(again, /deployment\.apps\/asterism-agent (unchanged|configured)/);
    await startAgent(oak, kubectl);
    await until(client, CLUSTERS, { name: 'oak' }, isReady, { needs: [agent] });
  });

  test('join looks first: what is at fault is a line, and nothing is changed', async () => {
    const command = await aster('token', 'create', '--ttl', '10m', '--cluster', 'elm');
    const words = command.trim().split(' ').slice(1);
    const reader = await writeKubeconfig(
      join(elm.folder, 'reader.kubeconfig'),
      await elm.connectionAs({ commonName: 'reader' }),
    );
    const { code, stderr } = await tried(...words, '--kubeconfig', reader);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /^FAULT hub address: https:\/\/127\S+ leads the agent's pod to the pod itself -> /m);
    assert.match(
      stderr,
      /^FAULT rights: \S+: this user may not create namespaces; .* -> use a kubeconfig of an admin/m,
    );
    assert.match(stderr, /nothing was changed/);
    const dry = await runAster([...words, '--kubeconfig', elm.kubeconfig, '--host-network', '--dry-run']);
    assert.match(dry, /^would apply Deployment asterism-system\/asterism-agent$/m);
    await assert.rejects(elm.client.resource(NAMESPACES).get({ name: SYSTEM_NAMESPACE }), /not found/);
  });

  test('join without a node says what it hangs on, and puts right what differs when it is run again', async () => {
    const command = await aster('token', 'create', '--ttl', '10m', '--cluster', 'elm');
    const words = [...command.trim().split(' ').slice(1), '--kubeconfig', elm.kubeconfig, '--host-network'];
    for (const image of ['one', 'two']) {
      const { code, stderr } = await tried(...words, '--timeout', '2s', '--image', image);
      assert.equal(code, 8, stderr);
      assert.match(stderr, /^waiting: (pod asterism-agent-\S+ |no pod was made)/m);
      const at = { namespace: SYSTEM_NAMESPACE, name: 'asterism-agent' };
      const { spec } = await elm.client.resource(DEPLOYMENTS).get(at);
      assert.equal(spec?.template?.spec?.containers[0]?.image, image);
    }
    const kubectl = await kubectlOf('kubectl-1.36', elm);
    await kubectl.run(['delete', 'namespace,clusterrole,clusterrolebinding', '-l', 'asterism.dev/made-by=join']);
  });

  test('join --push, again, and a name that another cluster has', async () => {
    const push = ['join', '--push', '--kubeconfig', elm.kubeconfig];
    assert.match(await aster(...push, '--name', 'elm'), /^elm has joined https:/);
    assert.match(await aster(...push, '--name', 'elm'), /^elm has joined https:/);
    const taken = await tried(...push, '--name', 'oak');
    assert.match(taken.stderr, /^FAULT name: the name "oak" belongs to another cluster/m);
    const text = await readFile(elm.kubeconfig, 'utf8');
    const careless = join(elm.folder, 'careless.kubeconfig');
    await writeFile(
      careless,
      text.replace(/"?certificate-authority-data"?: ?"?[\w+/=]+"?/, '"insecure-skip-tls-verify": true'),
    );
    const { code, stderr } = await tried('join', '--push', '--kubeconfig', careless, '--name', 'elm');
    assert.deepEqual([code, /says insecure-skip-tls-verify: .*--endpoint-ca FILE/.test(stderr)], [2, true], stderr);
  });

  test('the doctor is silent on a good fleet, and finds an agent that was stopped', async () => {
    const good = await tried('doctor');
    assert.deepEqual([good.code, good.stdout], [0, ''], good.stderr);
    assert.match(good.stderr, /^all \d+ checks are fine$/m);
    await agent.kill();
    const broken = await tried('doctor', '-C', 'oak,elm');
    assert.equal(broken.code, 1);
    assert.match(broken.stdout, /^FAULT oak\/way in: no way through its tunnel: .* -> see the log of its agent/);
    assert.doesNotMatch(broken.stdout, /elm/);
    await agent.start();
    await agent.printed(/^ready /m, AbortSignal.timeout(60_000));
    assert.equal((await tried('doctor', '-C', 'oak')).code, 0);
  });

  test('leave drains, and takes out what the join made on both sides', async () => {
    await place('drained', oak);
    assert.match(await aster('leave', 'oak'), /^oak has left$/m);
    await assert.rejects(oak.client.resource(CONFIG_MAPS).get({ namespace: 'default', name: 'drained' }), /not found/);
    await nothingOfTheJoinIsLeft(oak);
    await untilGone(client, NAMESPACES, { name: clusterNamespace('oak') });
    const { code, stderr } = await tried('leave', 'oak');
    assert.deepEqual([code, /there is no cluster "oak"/.test(stderr)], [1, true], stderr);
  });

  test('leave --keep leaves what was placed', async () => {
    await place('kept', elm);
    assert.match(await aster('leave', 'elm', '--keep'), /^elm has left$/m);
    const kept = await elm.client.resource(CONFIG_MAPS).get({ namespace: 'default', name: 'kept' });
    assert.equal(kept.metadata?.labels?.['asterism.dev/managed'], undefined);
    await nothingOfTheJoinIsLeft(elm);
  });

  test('leave --force does not need the cluster; asked in order before, it waits for it and says so', async () => {
    await aster('join', '--push', '--kubeconfig', elm.kubeconfig, '--name', 'elm');
    await place('lost', elm);
    await elm.apiServer.kill();
    const waiting = await tried('leave', 'elm', '--timeout', '2s');
    assert.equal(waiting.code, 8);
    assert.match(waiting.stderr, /^leaving: 2 Works are still to be taken out: /m);
    assert.match(waiting.stderr, /or with --force where the cluster is gone$/m);
    const begun = Date.now();
    assert.match(await aster('leave', 'elm', '--force'), /^elm has left$/m);
    assert.ok(Date.now() - begun < 10_000, `${Date.now() - begun} ms`);
    await untilGone(client, NAMESPACES, { name: clusterNamespace('elm') });
  });
});
