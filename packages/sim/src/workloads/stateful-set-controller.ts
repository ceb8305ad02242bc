import type { Client, Clock } from '@asterism/client';
import {
  CONTROLLER_REVISIONS,
  type ControllerRevision,
  deepEqual,
  isAlreadyExists,
  isNotFound,
  PERSISTENT_VOLUME_CLAIMS,
  type PersistentVolumeClaim,
  type Pod,
  PODS,
  STATEFUL_SETS,
  type StatefulSet,
} from '@asterism/machinery';
import { createController, type Manager } from '@asterism/runtime';
import { createEventRecorder } from './event-recorder.ts';
import { podFromTemplate } from './pod-from-template.ts';
import { untilAvailable } from './pod-state.ts';
import { createPodWriter, type PodWriter } from './pod-writer.ts';
import { writeRevisions } from './revision-history.ts';
import { planRevisions, templateOf } from './revision-plan.ts';
import { followBelongings } from './set-belongings.ts';
import { ordinalOf, planStatefulSet, revisionOfPod, type Revisions } from './stateful-set-plan.ts';
import { statefulSetStatus } from './stateful-set-status.ts';
import { claimOwners, claimsOf, volumesOf } from './volume-claims.ts';

const HASH_LABEL = 'controller.kubernetes.io/hash';

/** Keeps pods with a name and volumes of their own, in order: see `planStatefulSet` for the rules. */
export function addStatefulSetController(manager: Manager, clock: Clock): void {
  const { cache, client: local } = manager.local;
  const claimBelongings = followBelongings(cache);
  cache.informer(PERSISTENT_VOLUME_CLAIMS);
  const writer = createPodWriter(createEventRecorder(local, 'statefulset-controller', clock));
  manager.add(
    createController({
      name: 'statefulset',
      concurrency: 4,
      async reconcile({ namespace, name }, { cluster }) {
        const set = cluster.cache.get(STATEFUL_SETS, { namespace, name });
        if (set === undefined || set.metadata?.deletionTimestamp) return;
        const { client } = cluster;
        const mayAdopt = (pod: Pod): boolean => ordinalOf(set, pod) !== undefined;
        const { pods: owned, revisions: history } = await claimBelongings(client, set, mayAdopt);
        const used = new Set([...owned.map(revisionOfPod), set.status?.currentRevision ?? '']);
        const planned = planRevisions(set, history, used, HASH_LABEL);
        await writeRevisions(client, planned);
        const known = [...history, planned.update];
        const names = revisionNames(set, planned.update, known);
        const claims = (named: string) => cluster.cache.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name: named });
        try {
          await step({ client, set, owned, known, claims, writer }, names, clock.wall().getTime());
        } finally {
          await writeStatus(client, set, statefulSetStatus(set, owned, names, clock.wall().getTime()));
        }
        return { requeueAfter: untilAvailable(owned, set.spec?.minReadySeconds ?? 0, clock.wall().getTime()) };
      },
    })
      .for(STATEFUL_SETS)
      .owns(PODS)
      .owns(CONTROLLER_REVISIONS),
  );
}

/** The current revision is the one that the last finished rollout left, for as long as it is known. */
function revisionNames(set: StatefulSet, update: ControllerRevision, known: readonly ControllerRevision[]): Revisions {
  const { currentRevision } = set.status ?? {};
  const name = update.metadata?.name ?? '';
  const isKnown = known.some(({ metadata }) => metadata?.name === currentRevision);
  return { current: isKnown && currentRevision !== undefined ? currentRevision : name, update: name };
}

interface Work {
  client: Client;
  set: StatefulSet;
  owned: readonly Pod[];
  known: readonly ControllerRevision[];
  claims: (name: string) => PersistentVolumeClaim | undefined;
  writer: PodWriter;
}

async function step(work: Work, names: Revisions, now: number): Promise<void> {
  const { client, set, owned, writer } = work;
  const plan = planStatefulSet(set, owned, names, now);
  const leaving = new Set(plan.remove);
  for (const pod of owned) await keepClaimOwners(work, pod, leaving.has(pod));
  await Promise.all([
    ...plan.create.map(async ({ ordinal, revision }) => {
      await makeClaims(work, ordinal);
      const template = work.known.find(({ metadata }) => metadata?.name === revision);
      await writer.create(client, set, podOf(set, ordinal, revision, template));
    }),
    ...plan.remove.map((pod) => writer.remove(client, set, pod)),
  ]);
}

async function makeClaims({ client, set, claims }: Work, ordinal: number): Promise<void> {
  for (const claim of claimsOf(set, ordinal)) {
    if (claims(claim.metadata?.name ?? '') !== undefined) continue;
    const ownerReferences = claimOwners(set, claim, undefined, false);
    const metadata = { ...claim.metadata, ...(ownerReferences.length > 0 ? { ownerReferences } : {}) };
    await client
      .resource(PERSISTENT_VOLUME_CLAIMS)
      .create({ ...claim, metadata })
      .catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
  }
}

async function keepClaimOwners({ client, set, claims }: Work, pod: Pod, isLeaving: boolean): Promise<void> {
  const ordinal = ordinalOf(set, pod) ?? 0;
  const start = set.spec?.ordinals?.start ?? 0;
  const isSurplus = ordinal < start || ordinal >= start + (set.spec?.replicas ?? 1);
  for (const { metadata } of claimsOf(set, ordinal)) {
    const claim = claims(metadata?.name ?? '');
    if (claim === undefined) continue;
    const owners = claimOwners(
      set,
      claim,
      pod,
      isSurplus && (isLeaving || pod.metadata?.deletionTimestamp !== undefined),
    );
    if (deepEqual(owners, claim.metadata?.ownerReferences ?? [])) continue;
    const ref = { namespace: claim.metadata?.namespace, name: claim.metadata?.name ?? '' };
    const { resourceVersion } = claim.metadata ?? {};
    const body = { metadata: { resourceVersion, ownerReferences: owners } };
    await client.resource(PERSISTENT_VOLUME_CLAIMS).patch(ref, { type: 'merge', body });
  }
}

function podOf(set: StatefulSet, ordinal: number, revision: string, kept: ControllerRevision | undefined): Pod {
  const template = kept === undefined ? set.spec?.template : templateOf(kept);
  const name = `${set.metadata?.name}-${ordinal}`;
  const pod = podFromTemplate(set, template, name);
  const volumes = volumesOf(set, ordinal, pod.spec?.volumes);
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: {
        ...pod.metadata?.labels,
        'apps.kubernetes.io/pod-index': String(ordinal),
        'controller-revision-hash': revision,
        'statefulset.kubernetes.io/pod-name': name,
      },
    },
    ...(pod.spec
      ? {
          spec: {
            ...pod.spec,
            hostname: name,
            ...(set.spec?.serviceName ? { subdomain: set.spec.serviceName } : {}),
            ...(volumes.length > 0 ? { volumes } : {}),
          },
        }
      : {}),
  };
}

async function writeStatus(client: Client, set: StatefulSet, status: StatefulSet['status']): Promise<void> {
  if (status === undefined || deepEqual(status, set.status)) return;
  try {
    await client.resource(STATEFUL_SETS).update({ ...set, status }, { subresource: 'status' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
