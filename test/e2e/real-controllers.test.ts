import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Client } from '@asterism/client';
import {
  CONFIG_MAPS,
  CONTROLLER_REVISIONS,
  CRON_JOBS,
  DAEMON_SETS,
  DEPLOYMENTS,
  ENDPOINT_SLICES,
  ENDPOINTS,
  formatTime,
  HORIZONTAL_POD_AUTOSCALERS,
  isConditionTrue,
  type Job,
  JOBS,
  type KubeObject,
  LEASES,
  NAMESPACES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  type PersistentVolumeClaim,
  type Pod,
  POD_DISRUPTION_BUDGETS,
  PODS,
  REPLICA_SETS,
  SECRETS,
  SERVICE_ACCOUNTS,
  SERVICES,
  STATEFUL_SETS,
} from '@asterism/machinery';
import { klogErrors } from '../cluster/klog-errors.ts';
import { Kubectl } from '../cluster/kubectl.ts';
import { markPodsReady } from '../cluster/mark-pods-ready.ts';
import { OwnControlPlane } from '../cluster/own-control-plane.ts';
import { requiredBinary, unlessThere } from '../cluster/real-kubernetes.ts';
import { RunFolder } from '../cluster/run-folder.ts';
import { untilExists } from '../cluster/until-exists.ts';
import { untilAll } from '../cluster/until-all.ts';

const NODES = ['node-a', 'node-b'];

/** What they log as errors whatever the API server, and why. All else is our server's fault. */
const EXPECTED_ERRORS: readonly { line: RegExp; why: string }[] = [
  { line: /no cloud provider provided/, why: 'there is none' },
  {
    line: /requestheader-client-ca-file/,
    why: 'the server has no front proxy, as a kube-apiserver started without one',
  },
  { line: /the object has been modified; please apply/, why: 'two controllers, or one and its cache: they try again' },
  {
    line: /cannot set Complete=True condition without the SuccessCriteriaMet=true condition/,
    why: 'Kubernetes 1.31 and newer refuse it, in these words; the controller of 1.20 knows no such condition',
  },
  {
    line: /startTime cannot be removed for unsuspended job/,
    why: 'the controller of 1.20 starts a Job again that its cache shows not started; it tries again',
  },
  { line: /because it is being terminated/, why: 'a namespace on its end' },
  { line: /"[^"]+" not found(' \(will not retry!\))?$/, why: 'what was worked on was deleted meanwhile' },
  { line: /metrics|computeStatusForObjectMetric|horizontal\.go/, why: 'nobody serves metrics.k8s.io' },
];

interface Scene {
  client: Client;
  /** kubectl 1.20 and 1.36. */
  kubectls: readonly Kubectl[];
  /** Of its own, ready for pods. */
  namespace: string;
}

function template(app: string, image: string, restartPolicy: 'Always' | 'Never' = 'Always') {
  const spec = { containers: [{ name: 'main', image }], restartPolicy, terminationGracePeriodSeconds: 0 };
  return { metadata: { labels: { app } }, spec };
}

function workload(app: string, image = `registry.example/${app}:1`) {
  return { selector: { matchLabels: { app } }, template: template(app, image) };
}

const isReady = (pod: Pod): boolean => isConditionTrue(pod.status?.conditions, 'Ready');

function areReady(count: number, image?: string): (pods: readonly Pod[]) => boolean {
  return (pods) =>
    pods.length === count &&
    pods.every((pod) => isReady(pod) && (image === undefined || pod.spec?.containers[0]?.image === image));
}

async function deployment({ client, namespace, kubectls }: Scene): Promise<void> {
  const ref = { namespace, name: 'web' };
  const pods = { namespace, labelSelector: 'app=web' };
  await client.resource(DEPLOYMENTS).create({ metadata: ref, spec: { replicas: 3, ...workload('web') } });
  const first = await untilAll(client, PODS, pods, areReady(3));
  assert.ok(
    first.every(({ spec }) => NODES.includes(spec?.nodeName ?? '')),
    'the scheduler bound them',
  );
  await Promise.all(kubectls.map((kubectl) => kubectl.run(['-n', namespace, 'rollout', 'status', 'deploy/web'])));
  for (const [index, kubectl] of kubectls.entries()) {
    const image = `registry.example/web:${index + 2}`;
    await kubectl.run(['-n', namespace, 'set', 'image', 'deploy/web', `main=${image}`]);
    assert.match(await kubectl.run(['-n', namespace, 'rollout', 'status', 'deploy/web']), /successfully rolled out/);
    await kubectl.run(['-n', namespace, 'wait', '--for=condition=available', 'deploy/web', '--timeout=20s']);
    await untilAll(client, PODS, pods, areReady(3, image));
    await kubectl.run(['-n', namespace, 'scale', 'deploy/web', `--replicas=${5 - index}`]);
    const scaled = await untilExists(client, DEPLOYMENTS, ref, ({ status }) => status?.availableReplicas === 5 - index);
    assert.equal(scaled.status?.observedGeneration, scaled.metadata?.generation);
    await kubectl.run(['-n', namespace, 'scale', 'deploy/web', '--replicas=3']);
    await untilAll(client, PODS, pods, areReady(3, image));
  }
  await kubectls[0]!.run(['-n', namespace, 'rollout', 'undo', 'deploy/web']);
  await untilAll(client, PODS, pods, areReady(3, 'registry.example/web:2'));
  const sets = await client.resource(REPLICA_SETS).list({ namespace });
  assert.equal(sets.items.length, 3);
  await untilAll(client, PODS, { namespace }, (all) => all.length === 3);
  await Promise.all([
    kubectls[1]!.run(['-n', namespace, 'wait', '--for=delete', 'deploy/web', '--timeout=20s']),
    kubectls[0]!.run(['-n', namespace, 'delete', 'deploy', 'web']),
  ]);
  await untilAll(client, PODS, pods, (left) => left.length === 0);
  await untilAll(client, REPLICA_SETS, { namespace }, (left) => left.length === 0);
}

async function jobs({ client, namespace, kubectls }: Scene): Promise<void> {
  const ref = { namespace, name: 'once' };
  const spec = { completions: 2, parallelism: 2, template: template('once', 'registry.example/once:1', 'Never') };
  await client.resource(JOBS).create({ metadata: ref, spec });
  await untilAll(
    client,
    PODS,
    { namespace, labelSelector: 'job-name=once' },
    (pods) => pods.length === 2 && pods.every(({ status }) => status?.phase === 'Succeeded'),
  );
  // What the controller of today says before, and that of 1.20 cannot; it may write over it what it had read before.
  const met = { type: 'SuccessCriteriaMet', status: 'True', reason: 'CompletionsReached' };
  const body = { status: { conditions: [met] } };
  const holds = ({ status }: Job, type: string): boolean => isConditionTrue(status?.conditions, type);
  for (let isComplete = false; !isComplete; ) {
    await client.resource(JOBS).patch(ref, { type: 'strategic', body }, { subresource: 'status' });
    const now = await untilExists(
      client,
      JOBS,
      ref,
      (job) => holds(job, 'Complete') || !holds(job, 'SuccessCriteriaMet'),
    );
    isComplete = holds(now, 'Complete');
  }
  await kubectls[1]!.run(['-n', namespace, 'wait', '--for=condition=complete', 'job/once', '--timeout=30s']);
  assert.equal((await client.resource(JOBS).get(ref)).status?.succeeded, 2);
}

async function cronJobs({ client, namespace }: Scene): Promise<void> {
  const ref = { namespace, name: 'often' };
  const jobTemplate = { spec: { template: template('often', 'registry.example/once:1', 'Never') } };
  await client.resource(CRON_JOBS).create({ metadata: ref, spec: { schedule: '* * * * *', jobTemplate } });
  // It has missed a minute, so that nobody need wait for the next.
  const lastScheduleTime = formatTime(Date.now() - 90_000);
  await client
    .resource(CRON_JOBS)
    .patch(ref, { type: 'merge', body: { status: { lastScheduleTime } } }, { subresource: 'status' });
  const [job] = await untilAll(client, JOBS, { namespace }, ({ length }) => length > 0);
  assert.equal(job?.metadata?.ownerReferences?.[0]?.kind, 'CronJob');
  await untilExists(client, CRON_JOBS, ref, ({ status }) => status?.lastScheduleTime !== lastScheduleTime);
}

async function statefulSet({ client, namespace, kubectls }: Scene): Promise<void> {
  const claim: PersistentVolumeClaim = {
    metadata: { name: 'data' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: namespace,
      resources: { requests: { storage: '1Gi' } },
    },
  };
  for (const number of [0, 1]) {
    await client.resource(PERSISTENT_VOLUMES).create({
      metadata: { name: `${namespace}-${number}` },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: namespace,
        hostPath: { path: '/data' },
      },
    });
  }
  const spec = { replicas: 2, serviceName: 'db', ...workload('db'), volumeClaimTemplates: [claim] };
  await client.resource(STATEFUL_SETS).create({ metadata: { namespace, name: 'db' }, spec });
  const pods = await untilAll(client, PODS, { namespace }, areReady(2));
  assert.deepEqual(new Set(pods.map(({ metadata }) => metadata?.name)), new Set(['db-0', 'db-1']));
  await untilAll(
    client,
    PERSISTENT_VOLUME_CLAIMS,
    { namespace },
    (claims) => claims.length === 2 && claims.every(({ status }) => status?.phase === 'Bound'),
  );
  await kubectls[0]!.run(['-n', namespace, 'rollout', 'status', 'sts/db']);
  await kubectls[1]!.run(['-n', namespace, 'set', 'image', 'sts/db', 'main=registry.example/db:2']);
  await untilAll(client, PODS, { namespace }, areReady(2, 'registry.example/db:2'));
  await kubectls[1]!.run(['-n', namespace, 'rollout', 'status', 'sts/db', '--timeout=30s']);
  assert.equal((await client.resource(CONTROLLER_REVISIONS).list({ namespace })).items.length, 2);
  await kubectls[0]!.run(['-n', namespace, 'scale', 'sts/db', '--replicas=1']);
  const [left] = await untilAll(client, PODS, { namespace }, areReady(1));
  assert.equal(left?.metadata?.name, 'db-0');
}

async function daemonSet({ client, namespace, kubectls }: Scene): Promise<void> {
  await client.resource(DAEMON_SETS).create({ metadata: { namespace, name: 'agent' }, spec: workload('agent') });
  const pods = await untilAll(client, PODS, { namespace }, areReady(2));
  assert.deepEqual(new Set(pods.map(({ spec }) => spec?.nodeName)), new Set(NODES));
  for (const kubectl of kubectls) {
    await kubectl.run(['-n', namespace, 'rollout', 'status', 'ds/agent']);
    assert.match(await kubectl.run(['cordon', 'node-b']), /node\/node-b cordoned/);
    const flags = ['--dry-run=server', '--ignore-daemonsets', '--force', `--pod-selector=app=agent`];
    assert.match(await kubectl.run(['drain', 'node-b', ...flags]), /node\/node-b drained/);
    assert.match(await kubectl.run(['uncordon', 'node-b']), /node\/node-b uncordoned/);
  }
  await untilAll(client, PODS, { namespace }, areReady(2));
}

async function service({ client, namespace, kubectls }: Scene): Promise<void> {
  await client.resource(DEPLOYMENTS).create({
    metadata: { namespace, name: 'shop' },
    spec: { replicas: 2, ...workload('shop') },
  });
  await client.resource(SERVICES).create({
    metadata: { namespace, name: 'shop' },
    spec: { selector: { app: 'shop' }, ports: [{ port: 80, targetPort: 8080 }] },
  });
  await kubectls[0]!.run(['-n', namespace, 'create', 'pdb', 'shop', '--selector=app=shop', '--min-available=1']);
  await kubectls[0]!.run(['-n', namespace, 'autoscale', 'deploy/shop', '--min=1', '--max=4', '--cpu-percent=80']);
  const pods = await untilAll(client, PODS, { namespace }, areReady(2));
  const names = new Set(pods.map(({ metadata }) => metadata?.name));
  const ref = { namespace, name: 'shop' };
  const endpoints = await untilExists(client, ENDPOINTS, ref, ({ subsets }) => subsets?.[0]?.addresses?.length === 2);
  assert.equal(endpoints.subsets?.[0]?.ports?.[0]?.port, 8080);
  const [slice] = await untilAll(
    client,
    ENDPOINT_SLICES,
    { namespace, labelSelector: 'kubernetes.io/service-name=shop' },
    ([one]) => one?.endpoints?.filter(({ conditions }) => conditions?.ready).length === 2,
  );
  assert.deepEqual(new Set(slice?.endpoints?.map(({ targetRef }) => targetRef?.name)), names);
  assert.deepEqual(
    slice?.endpoints?.map(({ nodeName }) => NODES.includes(nodeName ?? '')),
    [true, true],
  );
  const budget = await untilExists(
    client,
    POD_DISRUPTION_BUDGETS,
    ref,
    ({ status }) => status?.disruptionsAllowed === 1,
  );
  assert.deepEqual([budget.status?.currentHealthy, budget.status?.expectedPods], [2, 2]);
  const scaler = await untilExists(
    client,
    HORIZONTAL_POD_AUTOSCALERS,
    ref,
    ({ status }) => status?.conditions?.some(({ type }) => type === 'ScalingActive') === true,
  );
  assert.ok(
    isConditionTrue(scaler.status?.conditions, 'AbleToScale') &&
      !isConditionTrue(scaler.status?.conditions, 'ScalingActive'),
  );
  // kubectl 1.20 looks for CustomResourceDefinitions of v1beta1 before a dry run: no server of today has them.
  const [old, current] = kubectls as [Kubectl, Kubectl];
  const rehearsed = await current.run(['drain', ...NODES, '--dry-run=server', '--pod-selector=app=shop']);
  assert.match(rehearsed, /node-a drained[^]*node-b drained/);
  for (const [index, kubectl] of [old, current].entries()) {
    const node = NODES[index]!;
    assert.match(await kubectl.run(['drain', node, '--pod-selector=app=shop']), /evicted|drained/);
    const moved = await untilAll(client, PODS, { namespace }, areReady(2));
    assert.ok(moved.every(({ spec }) => spec?.nodeName !== node));
    await kubectl.run(['uncordon', node]);
  }
}

async function garbage({ client, namespace }: Scene): Promise<void> {
  const maps = client.resource(CONFIG_MAPS);
  const all = ['Background', 'Foreground', 'Orphan'] as const;
  await Promise.all(
    all.map(async (propagationPolicy) => {
      const label = propagationPolicy.toLowerCase();
      const owner = await maps.create({ metadata: { namespace, name: `${label}-owner` } });
      const { name = '', uid = '' } = owner.metadata ?? {};
      const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, blockOwnerDeletion: true }];
      for (const dependent of ['one', 'two']) {
        await maps.create({
          metadata: { namespace, name: `${label}-${dependent}`, labels: { of: label }, ownerReferences },
        });
      }
      await maps.delete({ namespace, name }, { propagationPolicy });
      const wanted = (objects: readonly KubeObject[]): boolean =>
        propagationPolicy === 'Orphan'
          ? objects.length === 2 && objects.every(({ metadata }) => metadata?.ownerReferences === undefined)
          : objects.length === 0;
      await untilAll(client, CONFIG_MAPS, { namespace, labelSelector: `of=${label}` }, wanted);
    }),
  );
  const isOwner = ({ metadata }: KubeObject): boolean => metadata?.name?.endsWith('-owner') === true;
  await untilAll(client, CONFIG_MAPS, { namespace }, (left) => !left.some(isOwner));
}

async function namespaceWithAll({ client, namespace, kubectls }: Scene): Promise<void> {
  const account = await untilExists(
    client,
    SERVICE_ACCOUNTS,
    { namespace, name: 'default' },
    ({ secrets = [] }) => secrets.length > 0,
  );
  const token = await client.resource(SECRETS).get({ namespace, name: account.secrets?.[0]?.name ?? '' });
  assert.equal(token.type, 'kubernetes.io/service-account-token');
  assert.deepEqual(Object.keys(token.data ?? {}).sort(), ['ca.crt', 'namespace', 'token']);
  await untilExists(
    client,
    CONFIG_MAPS,
    { namespace, name: 'kube-root-ca.crt' },
    ({ data }) => data?.['ca.crt'] !== undefined,
  );
  await client.resource(DEPLOYMENTS).create({
    metadata: { namespace, name: 'web' },
    spec: { replicas: 2, ...workload('web') },
  });
  await client.resource(SERVICES).create({
    metadata: { namespace, name: 'web' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
  });
  await untilAll(client, PODS, { namespace }, areReady(2));
  await kubectls[1]!.run(['delete', 'namespace', namespace]);
  const left = await client.resource(NAMESPACES).list({ fieldSelector: `metadata.name=${namespace}` });
  assert.deepEqual(left.items, []);
  for (const type of [
    PODS,
    CONFIG_MAPS,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    DEPLOYMENTS,
    REPLICA_SETS,
    ENDPOINT_SLICES,
  ]) {
    assert.deepEqual((await client.resource<KubeObject>(type).list({ namespace })).items, [], type.resource);
  }
}

async function leases({ client }: Scene): Promise<void> {
  for (const name of ['kube-controller-manager', 'kube-scheduler']) {
    const ref = { namespace: 'kube-system', name };
    const held = await untilExists(client, LEASES, ref, ({ spec }) => Boolean(spec?.holderIdentity));
    await untilExists(client, LEASES, ref, ({ spec }) => spec?.renewTime !== held.spec?.renewTime);
  }
}

const SCENES: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  'a Deployment: pods on nodes, rollouts, scale, undo, cascade': deployment,
  Jobs: jobs,
  CronJobs: cronJobs,
  'a StatefulSet, its claims and volumes': statefulSet,
  'a DaemonSet, cordon and drain': daemonSet,
  'a Service, its EndpointSlices; a budget; an autoscaler': service,
  'garbage collection: background, foreground, orphan': garbage,
  'a namespace: its account, token and authority, and its end': namespaceWithAll,
  'leader election': leases,
};

const NEEDS = ['kube-controller-manager', 'kube-scheduler', 'kubectl-1.20', 'kubectl-1.36'];

describe('kube-controller-manager and kube-scheduler 1.20 work before our server', {
  skip: unlessThere(...NEEDS),
}, () => {
  for (const contentType of ['application/json', 'application/vnd.kubernetes.protobuf'] as const) {
    test(`in ${contentType}`, { concurrency: true, timeout: 120_000 }, async (t) => {
      await using run = await RunFolder.open();
      const flags = ['--horizontal-pod-autoscaler-sync-period=2s', '--pvclaimbinder-sync-period=2s'];
      await using controlPlane = await OwnControlPlane.start(run, { name: 'own', contentType, flags });
      const { client } = controlPlane;
      await using _a = markPodsReady({ client, node: NODES[0]!, scheduled: true });
      await using _b = markPodsReady({ client, node: NODES[1]!, scheduled: true });
      const kubectls = await Promise.all(
        ['1.20', '1.36'].map(
          async (version) =>
            new Kubectl(
              requiredBinary(`kubectl-${version}`),
              controlPlane.kubeconfig,
              await run.folder(`home-${version}`),
            ),
        ),
      );
      const played = Object.entries(SCENES).map(([name, play], index) =>
        t.test(name, async () => {
          const namespace = `scene-${index}`;
          await client.resource(NAMESPACES).create({ metadata: { name: namespace } });
          const needs = [controlPlane.controllerManager, controlPlane.scheduler];
          await untilExists(client, SERVICE_ACCOUNTS, { namespace, name: 'default' }, () => true, { needs });
          await play({ client, kubectls, namespace });
        }),
      );
      await Promise.all(played);
      await t.test('nobody complains', async () => {
        assert.deepEqual(controlPlane.complaints, []);
        const lines = (await klogErrors(controlPlane.folder)).map(({ line }) => line);
        assert.deepEqual(
          lines.filter((line) => !EXPECTED_ERRORS.some((expected) => expected.line.test(line))),
          [],
        );
      });
    });
  }
});
