import type { Client, Clock } from '@asterism/client';
import {
  deepEqual,
  type Deployment,
  DEPLOYMENTS,
  isAlreadyExists,
  REPLICA_SETS,
  type ReplicaSet,
} from '@asterism/machinery';
import { createController, type Manager } from '@asterism/runtime';
import { timestamp } from '../timestamp.ts';
import { deploymentStatus } from './deployment-status.ts';
import { BY_CONTROLLER, controllerReference, indexByController } from './owned.ts';
import { nextSizes, type ReplicaSetCount, rollingLimits, type RolloutStrategy } from './rollout.ts';
import { stableSuffix } from './stable-suffix.ts';

const HASH_LABEL = 'pod-template-hash';
const REVISION = 'deployment.kubernetes.io/revision';

/** Rolls a Deployment's template out through ReplicaSets, one for each template that it has had. */
export function addDeploymentController(manager: Manager, clock: Clock): void {
  const replicaSets = manager.local.cache.informer(REPLICA_SETS);
  replicaSets.addIndex(BY_CONTROLLER, indexByController);
  manager.add(
    createController({
      name: 'deployment',
      concurrency: 4,
      async reconcile({ namespace, name }, { cluster }) {
        const deployment = cluster.cache.get(DEPLOYMENTS, { namespace, name });
        if (deployment === undefined || deployment.metadata?.deletionTimestamp) return;
        const owned = replicaSets.store.byIndex(BY_CONTROLLER, deployment.metadata?.uid ?? '');
        await rollOut(cluster.client, deployment, owned);
        const status = deploymentStatus(deployment, owned, templateHash(deployment), timestamp(clock.now()));
        if (deepEqual(status, deployment.status)) return;
        await cluster.client.resource(DEPLOYMENTS).update({ ...deployment, status }, { subresource: 'status' });
      },
    })
      .for(DEPLOYMENTS)
      .owns(REPLICA_SETS),
  );
}

/** Names the template: the same template, the same ReplicaSet. */
export function templateHash(deployment: Deployment): string {
  return stableSuffix(canonicalJson(deployment.spec?.template), 10);
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, child: unknown) =>
    typeof child === 'object' && child !== null && !Array.isArray(child)
      ? Object.fromEntries(Object.entries(child).sort(([a], [b]) => (a < b ? -1 : 1)))
      : child,
  );
}

async function rollOut(client: Client, deployment: Deployment, owned: readonly ReplicaSet[]): Promise<void> {
  const hash = templateHash(deployment);
  const current = owned.find((set) => set.metadata?.labels?.[HASH_LABEL] === hash);
  const old = owned.filter((set) => set !== current && set.metadata?.deletionTimestamp === undefined);
  if (current === undefined) {
    await createReplicaSet(client, deployment, hash, nextRevision(owned));
    return;
  }
  if (deployment.spec?.paused) return;
  const sizes = nextSizes(
    deployment.spec?.replicas ?? 1,
    countOf(current),
    old.map(countOf),
    strategyOf(deployment),
    old.some(hasPods),
  );
  await Promise.all([current, ...old].map((set) => resize(client, set, sizes.get(set.metadata?.name ?? '') ?? 0)));
  await forgetHistory(client, deployment, old);
}

const countOf = (set: ReplicaSet): ReplicaSetCount => ({
  name: set.metadata?.name ?? '',
  replicas: set.spec?.replicas ?? 1,
  available: set.status?.availableReplicas ?? 0,
});

const hasPods = (set: ReplicaSet): boolean => (set.status?.replicas ?? 0) > 0;

function strategyOf({ spec }: Deployment): RolloutStrategy {
  const type = spec?.strategy?.type === 'Recreate' ? 'Recreate' : 'RollingUpdate';
  return { type, ...rollingLimits(spec?.replicas ?? 1, spec?.strategy?.rollingUpdate) };
}

const revisionOf = (set: ReplicaSet): number => Number(set.metadata?.annotations?.[REVISION] ?? 0);

function nextRevision(owned: readonly ReplicaSet[]): number {
  return Math.max(0, ...owned.map(revisionOf)) + 1;
}

async function createReplicaSet(client: Client, deployment: Deployment, hash: string, revision: number): Promise<void> {
  const { name, namespace = '' } = deployment.metadata ?? {};
  const template = deployment.spec?.template ?? {};
  const labels = { ...template.metadata?.labels, [HASH_LABEL]: hash };
  const set: ReplicaSet = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels,
      annotations: { [REVISION]: String(revision) },
      ownerReferences: [controllerReference(deployment)],
    },
    spec: {
      // A first one is made at full size by the next step; one beside others grows step by step.
      replicas: 0,
      minReadySeconds: deployment.spec?.minReadySeconds ?? 0,
      selector: {
        ...deployment.spec?.selector,
        matchLabels: { ...deployment.spec?.selector?.matchLabels, [HASH_LABEL]: hash },
      },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
  try {
    await client.resource(REPLICA_SETS).create(set);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

async function resize(client: Client, set: ReplicaSet, replicas: number): Promise<void> {
  if ((set.spec?.replicas ?? 1) === replicas) return;
  const { name = '', namespace, resourceVersion } = set.metadata ?? {};
  const body = { metadata: { resourceVersion }, spec: { replicas } };
  await client.resource(REPLICA_SETS).patch({ namespace, name }, { type: 'merge', body });
}

/** Empty ReplicaSets beyond `revisionHistoryLimit` go, the oldest first. */
async function forgetHistory(client: Client, deployment: Deployment, old: readonly ReplicaSet[]): Promise<void> {
  const empty = old.filter((set) => (set.spec?.replicas ?? 0) === 0 && !hasPods(set));
  const surplus = empty.length - (deployment.spec?.revisionHistoryLimit ?? 10);
  if (surplus <= 0) return;
  const oldest = empty.toSorted((a, b) => revisionOf(a) - revisionOf(b)).slice(0, surplus);
  await Promise.all(
    oldest.map(({ metadata }) =>
      client.resource(REPLICA_SETS).delete({ namespace: metadata?.namespace, name: metadata?.name ?? '' }),
    ),
  );
}
