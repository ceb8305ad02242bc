import type { ResourceBinding, Work } from '@asterism/fleet/api';
import { clusterOfNamespace, MANAGED_LABEL } from '@asterism/fleet/api';
import { deepEqual, isConditionTrue, isJsonObject, type KubeObject } from '@asterism/machinery';
import { type Expected, expected, isDividedByRoom, keyOf, type Shares } from './expected.ts';
import { type HubView, knownBy, sharesOf } from './hub-view.ts';
import type { MemberHistory } from './member-history.ts';
import type { PlacedMember } from './placing-fleet.ts';
import type { Wish } from './rollout.ts';
import { templateOf } from './wanted.ts';

/** Counters of a status that a template has the sum of. */
const COUNTERS: Readonly<Record<string, readonly string[]>> = {
  Deployment: ['replicas', 'readyReplicas', 'updatedReplicas', 'availableReplicas'],
  StatefulSet: ['replicas', 'readyReplicas', 'updatedReplicas', 'availableReplicas'],
  Job: ['succeeded', 'active', 'failed'],
};

export interface Fleet {
  members: readonly PlacedMember[];
  history: MemberHistory;
}

/** Where the fleet is not what it must be, in words; nothing where it is, with every status told. */
export function differences(wish: Wish, { members, history }: Fleet, hub: HubView): string[] {
  const wanted = expected(wish, members, knownBy(hub));
  const faults = [...dividedBadly(wish, hub), ...membersDiffer(wanted, history), ...hubDiffers(wanted, hub)];
  return faults.length > 0 ? faults : statusesDiffer(wanted, { members, history }, hub);
}

/** Of divisions by room it is only known that they add up, and lie within the policy. */
function dividedBadly(wish: Wish, { bindings }: HubView): string[] {
  return [...wish.workloads.values()].filter(isDividedByRoom).flatMap((workload) => {
    const policy = wish.policies.get(`${workload.namespace}/${workload.lane}`);
    if (!policy?.present) return [];
    const key = keyOf(templateOf(workload));
    const { clusters = [] } = bindings.get(key)?.spec ?? {};
    const sum = clusters.reduce((total, { replicas = 0 }) => total + replicas, 0);
    const outside = clusters.filter(({ name }) => workload.lane === 'together' && !policy.clusters.includes(name));
    return [
      ...(sum === workload.replicas ? [] : [`${key}: divided are ${sum} of ${workload.replicas} replicas`]),
      ...outside.map(({ name }) => `${key}: is in ${name}, where its policy does not want it`),
    ];
  });
}

function membersDiffer({ objects }: Expected, history: MemberHistory): string[] {
  return [...objects].flatMap(([cluster, wanted]) => {
    const present = history.present(cluster);
    const lacking = [...wanted.keys()].filter((key) => !present.has(key)).map((key) => `${cluster}: lacks ${key}`);
    const extra = [...present.keys()].filter((key) => !wanted.has(key)).map((key) => `${cluster}: still has ${key}`);
    const other = [...wanted].flatMap(([key, object]) => {
      const live = present.get(key);
      return live === undefined || says(live, object) ? [] : [`${cluster}: ${key} is not as wanted`];
    });
    return [...lacking, ...extra, ...other];
  });
}

function hubDiffers({ placed }: Expected, { bindings, clusterBindings, works }: HubView): string[] {
  const faults: string[] = clusterBindings === 0 ? [] : [`${clusterBindings} ClusterResourceBindings`];
  for (const key of bindings.keys()) if (!placed.has(key)) faults.push(`hub: a binding is left of ${key}`);
  const wantedWorks = new Set<string>();
  for (const [key, shares] of placed) {
    const binding = bindings.get(key);
    if (!binding) faults.push(`hub: no binding of ${key}`);
    else if (!sameShares(sharesOf(binding.spec.clusters ?? []), shares))
      faults.push(`hub: ${key} is decided otherwise`);
    for (const cluster of shares.keys()) wantedWorks.add(`${cluster}: ${key}`);
  }
  const found = works.map(idOfWork);
  if (new Set(found).size !== found.length) faults.push('hub: two Works for one object of a cluster');
  for (const id of found) if (!wantedWorks.has(id)) faults.push(`hub: a Work is left of ${id}`);
  const foundWorks = new Set(found);
  for (const id of wantedWorks) if (!foundWorks.has(id)) faults.push(`hub: no Work of ${id}`);
  return faults;
}

function statusesDiffer({ placed }: Expected, { members, history }: Fleet, { bindings, templates }: HubView): string[] {
  return [...placed].flatMap(([key, shares]) => {
    const binding = bindings.get(key);
    const template = templates.get(key);
    const lives = members.flatMap(({ name }) => (shares.has(name) ? [history.present(name).get(key)] : []));
    return [
      ...(binding && isSettled(binding, shares) ? [] : [`hub: the binding of ${key} is not settled`]),
      ...(template ? countersDiffer(key, template, lives) : [`hub: ${key} is gone`]),
    ];
  });
}

function isSettled({ metadata, spec, status }: ResourceBinding, shares: Shares): boolean {
  const items = status?.aggregatedStatus ?? [];
  return (
    status?.observedGeneration === metadata.generation &&
    isConditionTrue(status?.conditions, 'Scheduled') &&
    isConditionTrue(status?.conditions, 'FullyApplied') &&
    spec.unschedulable === undefined &&
    items.length === shares.size &&
    items.every(({ applied, clusterName }) => applied && shares.has(clusterName))
  );
}

function countersDiffer(key: string, template: KubeObject, lives: readonly (KubeObject | undefined)[]): string[] {
  const counters = COUNTERS[template.kind ?? ''] ?? [];
  const told = counters.filter((counter) => {
    const sum = lives.reduce((total, live) => total + numberOf(live?.['status'], counter), 0);
    return numberOf(template['status'], counter) !== sum;
  });
  const running = lives.flatMap((live) => (live && !hasRun(live) ? [`${key}: is not ready everywhere`] : []));
  const current = template.kind === 'Job' || counters.length === 0 || isObserved(template);
  return [
    ...told.map((counter) => `hub: ${counter} of ${key} is not the sum of what members say`),
    ...running,
    ...(current ? [] : [`hub: the status of ${key} is of an older generation`]),
  ];
}

function hasRun({ kind, ...live }: KubeObject): boolean {
  if (kind !== 'Deployment' && kind !== 'StatefulSet') return true;
  return numberOf(live['status'], 'readyReplicas') === numberOf(live['spec'], 'replicas');
}

function isObserved({ metadata, status }: KubeObject): boolean {
  return numberOf(status, 'observedGeneration') === metadata?.generation;
}

function numberOf(from: unknown, field: string): number {
  const value = isJsonObject(from) ? from[field] : undefined;
  return typeof value === 'number' ? value : 0;
}

/** Whether the object says all that is wanted, and of labels, annotations and data nothing more. */
function says(live: KubeObject, wanted: KubeObject): boolean {
  const { [MANAGED_LABEL]: _, ...labels } = live.metadata?.labels ?? {};
  const annotations = Object.keys(live.metadata?.annotations ?? {}).filter((name) => !name.includes('kubernetes.io/'));
  return (
    deepEqual(labels, wanted.metadata?.labels ?? {}) &&
    annotations.length === 0 &&
    deepEqual(live['data'], wanted['data']) &&
    saysPart(live['spec'], wanted['spec'])
  );
}

function saysPart(live: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return Array.isArray(live) && live.length === wanted.length && wanted.every((each, at) => saysPart(live[at], each));
  }
  if (!isJsonObject(wanted)) return deepEqual(live, wanted);
  return isJsonObject(live) && Object.entries(wanted).every(([field, value]) => saysPart(live[field], value));
}

function sameShares(a: Shares, b: Shares): boolean {
  return a.size === b.size && [...a].every(([cluster, replicas]) => b.has(cluster) && b.get(cluster) === replicas);
}

function idOfWork({ metadata, spec }: Work): string {
  const [manifest = {}] = spec.manifests;
  return `${clusterOfNamespace(metadata.namespace ?? '')}: ${keyOf(manifest)}`;
}
