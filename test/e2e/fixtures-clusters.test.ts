import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createSigningRequest } from '@asterism/apiserver';
import { createClient, createTransport } from '@asterism/client';
import { until } from '@asterism/client/testing';
import {
  CERTIFICATE_SIGNING_REQUESTS,
  type CertificateSigningRequest,
  DEPLOYMENTS,
  isConditionTrue,
  isStatusError,
  NODES,
  PODS,
} from '@asterism/machinery';
import { hierarchies } from '../cluster/cgroups.ts';
import { CONTROL_PLANE_BINARIES, ControlPlane } from '../cluster/control-plane.ts';
import { HUB_CONTROLLERS } from '../cluster/control-plane-controllers.ts';
import { Kubectl } from '../cluster/kubectl.ts';
import { markPodsReady } from '../cluster/mark-pods-ready.ts';
import { BUSYBOX_IMAGE, unlessNodes } from '../cluster/node-assets.ts';
import { requiredBinary, unlessThere } from '../cluster/real-kubernetes.ts';
import { RunFolder } from '../cluster/run-folder.ts';
import { untilExists } from '../cluster/until-exists.ts';

const DEPLOYMENT = ['create', 'deployment', 'web', `--image=${BUSYBOX_IMAGE}`, '--replicas=2'];
const web = { namespace: 'default', name: 'web' };

describe('control planes', { skip: unlessThere(...CONTROL_PLANE_BINARIES, 'kubectl-1.36', 'kubectl-1.20') }, () => {
  let run: RunFolder;
  let member: ControlPlane;
  let hub: ControlPlane;
  const kubectl = (of: ControlPlane, version = '1.36'): Kubectl =>
    new Kubectl(requiredBinary(`kubectl-${version}`), of.kubeconfig, run.path);

  before(async () => {
    run = await RunFolder.open();
    [member, hub] = await Promise.all([
      ControlPlane.start(run, { name: 'member', flags: { apiServer: ['--max-requests-inflight=321'] } }),
      ControlPlane.start(run, { name: 'hub', controllers: HUB_CONTROLLERS }),
    ]);
  });

  after(async () => {
    await Promise.all([member, hub].map((controlPlane) => controlPlane?.[Symbol.asyncDispose]()));
    await run[Symbol.asyncDispose]();
  });

  test('strangers to one another: each has an authority of its own', async () => {
    await using transport = createTransport({ ...member.connection, server: hub.connection.server });
    await assert.rejects(createClient({ transport }).version(), { name: 'ClientError' });
    const nobody = await member.connectionAs({ commonName: 'nobody' });
    await using asNobody = createTransport(nobody);
    await assert.rejects(createClient({ transport: asNobody }).resource(PODS).list(), (error) =>
      isStatusError(error, 'Forbidden'),
    );
  });

  test('pods of a member are Ready on a Node of its own, and go when they are deleted', async () => {
    await using _pretence = markPodsReady({ client: member.client, node: 'pretended' });
    await kubectl(member, '1.20').run(DEPLOYMENT);
    await kubectl(member).run(['rollout', 'status', 'deployment/web', '--timeout=60s']);
    const node = await member.client.resource(NODES).get({ name: 'pretended' });
    assert.ok(isConditionTrue(node.status?.conditions, 'Ready'));
    const pods = (await member.client.resource(PODS).list({ namespace: 'default' })).items;
    assert.deepEqual(
      pods.map(({ spec }) => spec?.nodeName),
      ['pretended', 'pretended'],
    );
    assert.equal(new Set(pods.map(({ status }) => status?.podIP)).size, 2, 'an address for each');
    await kubectl(member).run(['delete', 'deployment', 'web', '--cascade=foreground', '--timeout=60s']);
    assert.deepEqual((await member.client.resource(PODS).list({ namespace: 'default' })).items, []);
  });

  test('a control plane for a hub runs no workload, but signs certificates that were approved', async () => {
    await kubectl(hub).run(DEPLOYMENT);
    await kubectl(hub).run(['create', 'namespace', 'later']);
    // A controller that does run came by after the Deployment was there.
    const made = ['-n', 'later', 'get', 'serviceaccount', 'default'];
    await until(async () => assert.equal((await kubectl(hub).try(made)).code, 0));
    assert.equal(await kubectl(hub).run(['get', 'pods,replicasets', '-A', '-o', 'name']), '');
    const deployment = await hub.client.resource(DEPLOYMENTS).get(web);
    assert.equal(deployment.status?.observedGeneration, undefined);

    const { csr } = await createSigningRequest({ commonName: 'somebody' });
    const requests = hub.client.resource(CERTIFICATE_SIGNING_REQUESTS);
    await requests.create({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'somebody' },
      spec: {
        request: Buffer.from(csr).toString('base64'),
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['client auth'],
      },
    });
    await kubectl(hub).run(['certificate', 'approve', 'somebody']);
    const isSigned = (request: CertificateSigningRequest): boolean => request.status?.certificate !== undefined;
    const signed = await untilExists(hub.client, CERTIFICATE_SIGNING_REQUESTS, { name: 'somebody' }, isSigned);
    const certificate = new X509Certificate(Buffer.from(signed.status?.certificate ?? '', 'base64'));
    assert.ok(certificate.verify(new X509Certificate(hub.pki.ca.cert).publicKey));
  });

  test('killed and started again, it is where it was: same port, same objects', async () => {
    await kubectl(member).run(['create', 'configmap', 'kept']);
    const { server } = member;
    await member.apiServer.kill();
    await member.etcd.kill();
    assert.equal((await kubectl(member).try(['get', 'configmap', 'kept', '--request-timeout=2s'])).code, 1);
    await member.startAgain();
    assert.equal(member.server, server);
    assert.match(await kubectl(member).run(['get', 'configmap', 'kept', '-o', 'name']), /configmap\/kept/);
    const arguments_ = readFileSync(`/proc/${await member.apiServer.pid()}/cmdline`, 'utf8').split('\0');
    assert.ok(arguments_.includes('--max-requests-inflight=321'), 'further flags, in every life');
  });
});

test('kill -9 of a test process leaves nothing behind: no process, mount or interface; the rest is swept', {
  skip: unlessNodes(),
}, async () => {
  const script = fileURLToPath(new URL('hold-a-cluster.ts', import.meta.url));
  const holder = spawn(process.execPath, [...process.execArgv, script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const folder = await firstLine(holder);
  assert.ok(existsSync(folder));
  const name = basename(folder);
  const held = await processesBelow(holder.pid ?? 0);
  const programs = new Set(held.map(({ program }) => program));
  for (const program of ['etcd', 'kube-apiserver', 'kubelet', 'containerd']) assert.ok(programs.has(program), program);
  assert.ok((await groupsOf(name)).length > 0);

  const ended = once(holder, 'exit');
  holder.kill('SIGKILL');
  await ended;
  await until(async () => {
    const alive = await Promise.all(
      held.map(async (one) => ((await startOf(one.pid)) === one.started ? one.program : '')),
    );
    assert.deepEqual(
      alive.filter((program) => program !== ''),
      [],
    );
  });
  assert.doesNotMatch(readFileSync('/proc/self/mountinfo', 'utf8'), new RegExp(name));

  await using _next = await RunFolder.open();
  assert.equal(existsSync(folder), false);
  assert.deepEqual(await groupsOf(name), []);
});

async function firstLine(child: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk);
    if (text.includes('\n')) break;
  }
  return text.trim();
}

interface Held {
  pid: number;
  started: string | undefined;
  program: string;
}

/** Every process that descends from `root`; read from `/proc`. */
async function processesBelow(root: number): Promise<Held[]> {
  const children = new Map<number, Held[]>();
  for (const entry of await readdir('/proc')) {
    const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '');
    const [, program = ''] = /^\d+ \((.*)\) /.exec(stat) ?? [];
    if (program === '') continue;
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const siblings = children.get(Number(fields[1])) ?? [];
    children.set(Number(fields[1]), [...siblings, { pid: Number(entry), started: fields[19], program }]);
  }
  const below = (pid: number): Held[] => (children.get(pid) ?? []).flatMap((child) => [child, ...below(child.pid)]);
  return below(root);
}

async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

/** The cgroups that a run made. */
async function groupsOf(run: string): Promise<string[]> {
  const groups = await Promise.all(hierarchies().map(({ path }) => readdir(path)));
  return groups.flat().filter((group) => group.startsWith(run));
}
