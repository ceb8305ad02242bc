import type { Client, Clock } from '@asterism/client';
import {
  deepEqual,
  type Deployment,
  DEPLOYMENTS,
  isAlreadyExists,
  isNotFound,
  REPLICA_SETS,
  type ReplicaSet,
} from '@asterism/machinery';
import { createController, type Manager } from '@asterism/runtime';
import { claimObjects } from './claim-objects.ts';
import { nextRevision, REVISION, revisionAnnotations, revisionOf } from './deployment-revision.ts';
import { deploymentStatus, untilDeadline } from './deployment-status.ts';
import { createEventRecorder, type EventRecorder } from './event-recorder.ts';
import { BY_CONTROLLER, controllerReference, indexByController } from './owned.ts';
import { templateHash } from './revision-plan.ts';
import { nextSizes, proportionalSizes, type ReplicaSetCount, rollingLimits, type RolloutStrategy } from './rollout.ts';

const HASH_LABEL = 'pod-template-hash';

/** Rolls a Deployment's template out through ReplicaSets, one for each template that it has had. */
export function addDeploymentController(manager: Manager, clock: Clock): void {
  const replicaSets = manager.local.cache.informer(REPLICA_SETS);
  replicaSets.addIndex(BY_CONTROLLER, indexByController);
  const events = createEventRecorder(manager.local.client, 'deployment-controller', clock);
  manager.add(
    createController({
      name: 'deployment',
      concurrency: 4,
      async reconcile({ namespace, name }, { cluster }) {
        const deployment = cluster.cache.get(DEPLOYMENTS, { namespace, name });
        if (deployment === undefined || deployment.metadata?.deletionTimestamp) return;
        const { client } = cluster;
        const { selector } = deployment.spec ?? {};
        const { store } = replicaSets;
        const owned = await claimObjects({ client, type: REPLICA_SETS, owner: deployment, selector, store });
        const marked = await new Rollout(client, deployment, owned, events).step();
        const status = deploymentStatus(
          deployment,
          owned,
          templateHash(deployment.spec?.template),
          clock.wall().getTime(),
        );
        // The mark goes with the status, as upstream: anywhere else it would be a new generation.
        if (marked !== deployment || !deepEqual(status, deployment.status)) {
          await client.resource(DEPLOYMENTS).update({ ...marked, status }, { subresource: 'status' });
        }
        return { requeueAfter: untilDeadline(deployment, status, clock.wall().getTime()) };
      },
    })
      .for(DEPLOYMENTS)
      .owns(REPLICA_SETS),
  );
}

/** One step of one Deployment. */
class Rollout {
  readonly #client: Client;
  readonly #deployment: Deployment;
  readonly #owned: readonly ReplicaSet[];
  readonly #events: EventRecorder;

  constructor(client: Client, deployment: Deployment, owned: readonly ReplicaSet[], events: EventRecorder) {
    this.#client = client;
    this.#deployment = deployment;
    this.#owned = owned;
    this.#events = events;
  }

  /** Resolves with the Deployment, marked with the revision that its template has. */
  async step(): Promise<Deployment> {
    const { spec } = this.#deployment;
    const hash = templateHash(spec?.template);
    const current = this.#owned.find((set) => set.metadata?.labels?.[HASH_LABEL] === hash);
    const old = this.#owned.filter((set) => set !== current && set.metadata?.deletionTimestamp === undefined);
    if (spec?.paused) {
      await this.#scaleOnly(current);
      return this.#deployment;
    }
    const revision = nextRevision(current, old);
    if (current === undefined) {
      await this.#createReplicaSet(hash, revision);
      return this.#marked(revision);
    }
    const sizes = nextSizes(
      spec?.replicas ?? 1,
      countOf(current),
      old.map(countOf),
      strategyOf(this.#deployment),
      old.some(hasPods),
    );
    const annotations = revisionAnnotations(this.#deployment, current, revision);
    await Promise.all([
      this.#change(current, sizes.get(current.metadata?.name ?? '') ?? 0, annotations),
      ...old.map((set) => this.#change(set, sizes.get(set.metadata?.name ?? '') ?? 0)),
    ]);
    await this.#forgetHistory(old);
    return this.#marked(revision);
  }

  /** A paused Deployment rolls nothing out, and is scaled all the same. */
  async #scaleOnly(current: ReplicaSet | undefined): Promise<void> {
    const active = this.#owned.filter((set) => (set.spec?.replicas ?? 0) > 0);
    const sets = active.length > 0 ? active : current === undefined ? [] : [current];
    const desired = this.#deployment.spec?.replicas ?? 1;
    // Between rollouts the surge is left where it is.
    if (sets.length > 1 && sets.every((set) => wantedBy(set) === desired)) return;
    const sizes = proportionalSizes(desired, sets.map(countOf));
    const annotations = { [DESIRED]: String(desired) };
    await Promise.all(sets.map((set) => this.#change(set, sizes.get(set.metadata?.name ?? '') ?? 0, annotations)));
  }

  async #createReplicaSet(hash: string, revision: number): Promise<void> {
    const { metadata, spec } = this.#deployment;
    const { name, namespace = '' } = metadata ?? {};
    const template = spec?.template ?? {};
    const labels = { ...template.metadata?.labels, [HASH_LABEL]: hash };
    const set: ReplicaSet = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name: `${name}-${hash}`,
        namespace,
        labels,
        annotations: revisionAnnotations(this.#deployment, undefined, revision),
        ownerReferences: [controllerReference(this.#deployment)],
      },
      spec: {
        // A first one is made at full size by the next step; one beside others grows step by step.
        replicas: 0,
        minReadySeconds: spec?.minReadySeconds ?? 0,
        selector: { ...spec?.selector, matchLabels: { ...spec?.selector?.matchLabels, [HASH_LABEL]: hash } },
        template: { ...template, metadata: { ...template.metadata, labels } },
      },
    };
    try {
      await this.#client.resource(REPLICA_SETS).create(set);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  async #change(set: ReplicaSet, replicas: number, wanted: Record<string, string> = {}): Promise<void> {
    const before = set.spec?.replicas ?? 1;
    const { name = '', namespace, resourceVersion, annotations = {} } = set.metadata ?? {};
    const minReadySeconds = this.#deployment.spec?.minReadySeconds ?? 0;
    const isMarked = Object.entries(wanted).every(([key, value]) => annotations[key] === value);
    if (before === replicas && isMarked && (set.spec?.minReadySeconds ?? 0) === minReadySeconds) return;
    const body = { metadata: { resourceVersion, annotations: wanted }, spec: { replicas, minReadySeconds } };
    await this.#client.resource(REPLICA_SETS).patch({ namespace, name }, { type: 'merge', body });
    if (before === replicas) return;
    const way = replicas > before ? 'up' : 'down';
    const message = `Scaled ${way} replica set ${name} from ${before} to ${replicas}`;
    this.#events.record(this.#deployment, 'Normal', 'ScalingReplicaSet', message);
  }

  #marked(revision: number): Deployment {
    const { metadata } = this.#deployment;
    if (metadata?.annotations?.[REVISION] === String(revision)) return this.#deployment;
    const annotations = { ...metadata?.annotations, [REVISION]: String(revision) };
    return { ...this.#deployment, metadata: { ...metadata, annotations } };
  }

  /** Empty ReplicaSets beyond `revisionHistoryLimit` go, the oldest first. */
  async #forgetHistory(old: readonly ReplicaSet[]): Promise<void> {
    const empty = old.filter((set) => (set.spec?.replicas ?? 0) === 0 && !hasPods(set));
    const surplus = empty.length - (this.#deployment.spec?.revisionHistoryLimit ?? 10);
    if (surplus <= 0) return;
    const oldest = empty.toSorted((a, b) => revisionOf(a) - revisionOf(b)).slice(0, surplus);
    await Promise.all(oldest.map((set) => this.#forget(set)));
  }

  async #forget({ metadata }: ReplicaSet): Promise<void> {
    const { namespace, name = '' } = metadata ?? {};
    try {
      await this.#client.resource(REPLICA_SETS).delete({ namespace, name });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

const DESIRED = 'deployment.kubernetes.io/desired-replicas';

const wantedBy = ({ metadata }: ReplicaSet): number => Number(metadata?.annotations?.[DESIRED] ?? -1);

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
