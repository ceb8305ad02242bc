import type { Client } from '@asterism/client';
import {
  CONFIG_MAPS,
  DAEMON_SETS,
  DEPLOYMENTS,
  formatTime,
  HORIZONTAL_POD_AUTOSCALERS_V1,
  JOBS,
  type KubeObject,
  NAMESPACES,
  NODES,
  PERSISTENT_VOLUMES,
  PODS,
  type ResourceType,
  SERVICE_ACCOUNTS,
  SERVICES,
  STATEFUL_SETS,
} from '@asterism/machinery';
import { untilExists } from '../cluster/until-exists.ts';
import {
  autoscaler,
  budget,
  type ChurnObject,
  cronJob,
  daemonSet,
  deployment,
  job,
  OLD_BUDGETS,
  OLD_CRON_JOBS,
  ownerReference,
  pinnedPod,
  type Reference,
  service,
  statefulSet,
  UNSTEADY_NODES,
  volume,
} from './churn-objects.ts';

const TIMES = { timeoutMs: 120_000 };
const YEAR_MS = 366 * 24 * 3_600_000;

/** Most pods that a StatefulSet gets: for so many there are volumes. */
export const MOST_STATEFUL = 4;

export async function create(client: Client, type: ResourceType, object: ChurnObject): Promise<KubeObject> {
  return await client.resource<KubeObject>(type).create(object);
}

/** Resolves when its controllers have made it ready for pods. */
export async function makeNamespace(client: Client, name: string): Promise<void> {
  await create(client, NAMESPACES, { metadata: { name } });
  const hasToken = ({ secrets = [] }: { secrets?: unknown[] }): boolean => secrets.length > 0;
  await untilExists(client, SERVICE_ACCOUNTS, { namespace: name, name: 'default' }, hasToken, TIMES);
}

/** Resolves when its controller has seen it: two changes of one template that it sees as one leave less behind. */
export async function seen(client: Client, type: ResourceType, ref: Reference): Promise<void> {
  await untilExists<KubeObject>(
    client,
    type,
    ref,
    ({ metadata, status }) =>
      (status as { observedGeneration?: number } | undefined)?.observedGeneration === metadata?.generation,
    TIMES,
  );
}

/** Resolves when the node life cycle controller has noticed that its Lease is not renewed. */
export async function nodeIsLost(client: Client, name: string): Promise<void> {
  const isLost = ({ type, status }: { type: string; status: string }): boolean =>
    type === 'Ready' && status === 'Unknown';
  await untilExists(client, NODES, { name }, ({ status }) => status?.conditions?.some(isLost) === true, TIMES);
}

export async function makeWorkload(
  client: Client,
  type: ResourceType,
  ref: Reference,
  replicas: number,
): Promise<void> {
  if (type.kind === 'StatefulSet') {
    for (let index = 0; index < MOST_STATEFUL; index += 1) {
      await create(client, PERSISTENT_VOLUMES, volume(`${ref.namespace}-${ref.name}-${index}`, ref.namespace));
    }
    await create(client, STATEFUL_SETS, statefulSet(ref, replicas));
  } else if (type.kind === 'DaemonSet') await create(client, DAEMON_SETS, daemonSet(ref));
  else await create(client, DEPLOYMENTS, deployment(ref, replicas));
  await seen(client, type, ref);
}

/** It missed a run long ago, so that it makes up for one at once, and has nothing to do for the rest of the year. */
export async function makeCronJob(client: Client, ref: Reference): Promise<void> {
  await create(client, OLD_CRON_JOBS, cronJob(ref));
  const lastScheduleTime = formatTime(Date.now() - YEAR_MS);
  const patch = { type: 'merge', body: { status: { lastScheduleTime } } } as const;
  await client.resource(OLD_CRON_JOBS).patch(ref, patch, { subresource: 'status' });
}

/** Owners with what they own; `deleteOwner` takes the owner away. */
export async function makeFamily(client: Client, { namespace, name }: Reference): Promise<void> {
  const owner = await create(client, CONFIG_MAPS, { metadata: { namespace, name } });
  const other = await create(client, CONFIG_MAPS, { metadata: { namespace, name: `${name}-other` } });
  const child = async (suffix: string, ownerReferences: ReturnType<typeof ownerReference>[]): Promise<KubeObject> =>
    await create(client, CONFIG_MAPS, { metadata: { namespace, name: `${name}-${suffix}`, ownerReferences } });
  const blocking = await child('blocking', [ownerReference(owner, { controller: true, blockOwnerDeletion: true })]);
  await child('plain', [ownerReference(owner)]);
  await child('of-two', [ownerReference(owner, { blockOwnerDeletion: true }), ownerReference(other)]);
  await child('grandchild', [ownerReference(blocking, { blockOwnerDeletion: true })]);
}

/** Objects whose owners never were, or are others than they say. */
export async function makeOrphans(client: Client, { namespace, name }: Reference): Promise<void> {
  const nobody = ownerReference({ metadata: { name: 'nobody', uid: '00000000-0000-4000-8000-000000000000' } });
  const real = await create(client, CONFIG_MAPS, { metadata: { namespace, name: `${name}-owner` } });
  for (const [suffix, ownerReferences] of [
    ['absent', [nobody]],
    ['absent-and-real', [nobody, ownerReference(real)]],
    ['other-kind', [{ ...nobody, apiVersion: 'v1', kind: 'Secret' }]],
  ] as const) {
    await create(client, CONFIG_MAPS, {
      metadata: { namespace, name: `${name}-${suffix}`, ownerReferences: [...ownerReferences] },
    });
  }
}

/** All that a namespace of the churn has at first: about ninety objects with what controllers make of them. */
export async function fillNamespace(client: Client, namespace: string, replicas: readonly number[]): Promise<void> {
  const ref = (name: string): Reference => ({ namespace, name });
  await makeNamespace(client, namespace);
  for (const [index, count] of replicas.entries())
    await create(client, DEPLOYMENTS, deployment(ref(`web-${index}`), count));
  await makeWorkload(client, STATEFUL_SETS, ref('db'), 2);
  await makeWorkload(client, DAEMON_SETS, ref('agent'), 1);
  for (const index of [0, 1, 2]) await create(client, SERVICES, service(ref(`web-${index}`), `web-${index}`, 80));
  for (const index of [0, 1]) await create(client, JOBS, job(ref(`once-${index}`), 2));
  await makeCronJob(client, ref('yearly'));
  await create(client, DEPLOYMENTS, deployment(ref('scaled'), 2));
  await create(client, HORIZONTAL_POD_AUTOSCALERS_V1, autoscaler(ref('scaled')));
  await create(client, OLD_BUDGETS, budget(ref('scaled'), 'scaled'));
  await makeFamily(client, ref('family'));
  await makeOrphans(client, ref('orphans'));
  const [dead = ''] = UNSTEADY_NODES;
  await create(client, PODS, pinnedPod(ref('stays'), dead, { grace: 0 }));
  await create(client, PODS, pinnedPod(ref('goes'), dead, { grace: 0, tolerationSeconds: 2 }));
  await create(client, PODS, pinnedPod(ref('lingers'), dead, { grace: 5, tolerationSeconds: 2 }));
}
