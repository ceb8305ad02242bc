import assert from 'node:assert/strict';
import { createClient, createTransport } from '@asterism/client';
import { type Cluster, CLUSTERS, SEARCH_PATH } from '@asterism/fleet/api';
import { LAB_NETWORK } from './lab.ts';
import { type Fleet, type Member } from './fleet.ts';
import { rowsOf } from './kubectl.ts';
import { BUSYBOX_IMAGE } from './node-assets.ts';

/** What is placed, and how its replicas are to stand. */
export const DEMO = { namespace: 'demo', name: 'web', replicas: 6, division: { alder: 2, cedar: 4 } } as const;

/** Placed on both members as it is; changes to it are seen in them at once. */
export const SETTINGS = { namespace: 'demo', name: 'settings' } as const;

/** For `kubectl apply -f -` at the hub: ordinary objects, and where they go. */
export const DEMO_MANIFESTS = `
apiVersion: v1
kind: Namespace
metadata: {name: demo}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: pages, namespace: demo}
data: {index.html: "one application, every cluster"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: demo}
data: {round: "0"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: demo}
spec:
  replicas: 6
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: web
          image: ${BUSYBOX_IMAGE}
          command: [/bin/sh, -c, 'echo "serving on $(hostname)"; exec httpd -f -p 8080 -h /srv']
          readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}
          volumeMounts: [{name: pages, mountPath: /srv}]
      volumes: [{name: pages, configMap: {name: pages}}]
---
apiVersion: asterism.dev/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: demo}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  propagateDeps: true
  placement:
    clusterAffinity: {clusterNames: [alder, cedar]}
    replicaScheduling:
      replicaSchedulingType: Divided
      replicaDivisionPreference: Weighted
      weightPreference:
        staticWeightList:
          - {targetCluster: {clusterNames: [alder]}, weight: 1}
          - {targetCluster: {clusterNames: [cedar]}, weight: 2}
---
apiVersion: asterism.dev/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: settings}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, namespace: demo, name: settings}]
  placement:
    clusterAffinity: {clusterNames: [alder, cedar]}
`;

const inDemo = ['--namespace', DEMO.namespace];

/** Applies the demo at the hub and waits, as a user does, until it is rolled out. */
export async function rollOutDemo({ kubectl }: Fleet): Promise<void> {
  await kubectl.run(['apply', '-f', '-'], { stdin: DEMO_MANIFESTS });
  const rollout = ['rollout', 'status', `deployment/${DEMO.name}`, '--timeout=90s'];
  assert.match(await kubectl.run([...inDemo, ...rollout]), /successfully rolled out/);
}

/** Both members are Ready, joined as they said. */
export async function assertJoined({ kubectl }: Fleet): Promise<void> {
  const rows = rowsOf(await kubectl.run(['get', 'clusters', '-o', 'wide']));
  assert.deepEqual(
    rows.map(({ NAME, READY, MODE, NODES, REGION }) => [NAME, READY, MODE, NODES, REGION]),
    [
      ['alder', 'True', 'Push', '1/1', 'alder-region'],
      ['cedar', 'True', 'Pull', '2/2', 'cedar-region'],
    ],
  );
}

/** Replicas stand as divided, made by each member's own controllers, and the hub's Deployment says so. */
export async function assertPlaced(fleet: Fleet): Promise<void> {
  const [web] = rowsOf(await fleet.kubectl.run([...inDemo, 'get', 'deployment', DEMO.name]));
  assert.deepEqual(
    [web?.['READY'], web?.['UP-TO-DATE'], web?.['AVAILABLE']],
    [`${DEMO.replicas}/${DEMO.replicas}`, `${DEMO.replicas}`, `${DEMO.replicas}`],
  );
  for (const [member, replicas] of [
    [fleet.alder, DEMO.division.alder],
    [fleet.cedar, DEMO.division.cedar],
  ] as const) {
    const pods = rowsOf(await member.kubectl.run([...inDemo, 'get', 'pods', '--selector=app=web']));
    assert.deepEqual(
      pods.map((pod) => [pod['READY'], pod['STATUS']]),
      Array.from({ length: replicas }, () => ['1/1', 'Running']),
      member.name,
    );
    const sets = rowsOf(await member.kubectl.run([...inDemo, 'get', 'replicasets']));
    assert.deepEqual(
      sets.map((set) => set['READY']),
      [`${replicas}`],
      member.name,
    );
  }
  // Where templates live nothing runs.
  assert.equal(await fleet.kubectl.run([...inDemo, 'get', 'pods,replicasets', '-o', 'name']), '');
}

interface FoundPods {
  items: { metadata: { name: string; annotations?: Record<string, string> } }[];
}

/** One query at the hub finds the pods of both members. */
export async function assertFound(fleet: Fleet): Promise<void> {
  const path = `${SEARCH_PATH}/api/v1/namespaces/${DEMO.namespace}/pods`;
  const found = JSON.parse(await fleet.kubectl.run(['get', '--raw', path])) as FoundPods;
  const names = (list: FoundPods): string[] => list.items.map(({ metadata }) => metadata.name).toSorted();
  const standing: string[] = [];
  for (const { kubectl } of fleet.members) {
    standing.push(...names(JSON.parse(await kubectl.run([...inDemo, 'get', 'pods', '-o', 'json'])) as FoundPods));
  }
  assert.deepEqual(names(found), standing.toSorted());
  assert.equal(found.items.length, DEMO.replicas);
}

/** logs and exec, with stdin and exit codes, through the hub into a container of a member. */
export async function assertContainersReached(fleet: Fleet, member: Member): Promise<void> {
  const through = [...(await fleet.through(member)), ...inDemo];
  const kubectl = fleet.kubectl;
  const [pod = ''] = (await kubectl.run([...through, 'get', 'pods', '-o', 'name'])).trim().split('\n');
  assert.equal(await kubectl.run([...through, 'logs', pod]), `serving on ${pod.replace('pod/', '')}\n`);
  const inside = (...command: string[]): string[] => [...through, 'exec', '-i', pod, '--', ...command];
  assert.equal(await kubectl.run(inside('cat', '/srv/index.html')), 'one application, every cluster');
  const { code, stdout, stderr } = await kubectl.try(inside('sh', '-c', 'tr a-z A-Z; echo said >&2; exit 7'), {
    stdin: 'through the tunnel\n',
  });
  assert.deepEqual([code, stdout], [7, 'THROUGH THE TUNNEL\n']);
  assert.match(stderr, /^said$/m);
}

/** The hub holds no address of cedar, and where the hub stands cedar's address leads nowhere. */
export async function assertNotDialable({ client, cedar }: Fleet): Promise<void> {
  const { spec }: Cluster = await client.resource(CLUSTERS).get({ name: cedar.name });
  assert.deepEqual(spec.connection, { type: 'Tunnel' });
  const connection = { ...cedar.controlPlane.connection, server: `https://${LAB_NETWORK.address}:6443` };
  await using transport = createTransport(connection, { connectTimeoutMs: 2_000 });
  await assert.rejects(createClient({ transport }).version(), { name: 'ClientError' });
}
