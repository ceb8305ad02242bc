import { isJsonObject, type KubeObject, parseJson } from '@asterism/machinery';
import { tieBreakOf } from '../../../packages/fleet/src/template/tie-break.ts';
import type { Wish } from './rollout.ts';
import {
  hasPods,
  IMAGE_REGISTRY,
  type LanePolicy,
  type RegionOverride,
  SHARED_SECRET,
  settingsName,
  settingsOf,
  sharedSecretOf,
  templateOf,
  type Workload,
} from './wanted.ts';

/** Replicas by cluster; undefined where the object goes there whole. */
export type Shares = ReadonlyMap<string, number | undefined>;

export interface Cluster {
  name: string;
  region: string;
}

/** What the hub alone knows: what a template's uid is, and how it divided by room, which depends on the moment. */
export interface Known {
  uid: (key: string) => string;
  shares: (key: string) => Shares | undefined;
}

export interface Expected {
  /** By cluster, by {@link keyOf}: what stands there. */
  objects: ReadonlyMap<string, ReadonlyMap<string, KubeObject>>;
  /** By {@link keyOf} of each template that is placed: where. */
  placed: ReadonlyMap<string, Shares>;
}

/** `Deployment team-a/w-3`: an object, in the hub or in any member. */
export function keyOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata?.namespace}/${metadata?.name}`;
}

/**
 * What must stand in each cluster, worked out anew from what the user wants, and sharing no code with the hub but the tie-break:
 * there is nothing here that a kill could have left behind.
 */
export function expected(wish: Wish, clusters: readonly Cluster[], known: Known): Expected {
  const placed = new Map<string, Shares>();
  const objects = new Map(clusters.map(({ name }) => [name, new Map<string, KubeObject>()]));
  const place = (template: KubeObject, shares: Shares, override?: RegionOverride): void => {
    const key = keyOf(template);
    placed.set(key, new Map([...(placed.get(key) ?? []), ...shares]));
    for (const { name, region } of clusters) {
      if (!shares.has(name)) continue;
      const object = withReplicas(template, shares.get(name));
      objects.get(name)?.set(key, override?.region === region ? overridden(object, override) : object);
    }
  };
  for (const workload of wish.workloads.values()) {
    const { kind, namespace, lane, name } = workload;
    const policy = wish.policies.get(`${namespace}/${lane}`);
    if (!policy?.present) continue;
    const template = templateOf(workload);
    const key = keyOf(template);
    const shares = sharesOf(workload, policy, clusters, { uid: known.uid(key), decided: known.shares(key) });
    const isOverridden = kind === 'Deployment' || kind === 'StatefulSet';
    place(template, shares, isOverridden ? wish.overrides.get(namespace) : undefined);
    const follow: Shares = new Map([...shares.keys()].map((cluster) => [cluster, undefined]));
    if (workload.settings !== undefined) place(settingsOf({ ...workload, name }), follow);
    if (workload.secret) place(sharedSecretOf(namespace), follow);
  }
  return { objects, placed };
}

/** Whether how a workload is divided depends on the room that clusters had. */
export function isDividedByRoom({ kind, lane }: Pick<Workload, 'kind' | 'lane'>): boolean {
  return hasPods({ kind }) && (lane === 'room' || lane === 'together');
}

function sharesOf(
  workload: Workload,
  policy: LanePolicy,
  clusters: readonly Cluster[],
  { uid, decided }: { uid: string; decided: Shares | undefined },
): Shares {
  const { lane, replicas } = workload;
  const within = lane === 'some' || lane === 'together' ? policy.clusters : clusters.map(({ name }) => name);
  if (!hasPods(workload)) return new Map(within.map((name) => [name, undefined]));
  if (lane === 'everywhere' || lane === 'some') return new Map(within.map((name) => [name, replicas]));
  if (lane === 'weighted') return divideOneByOne(replicas, policy.weights, uid);
  return decided ?? new Map();
}

/** Webster's method as it is told: each replica goes to the highest weight / (2 · replicas + 1). */
function divideOneByOne(replicas: number, weights: Readonly<Record<string, number>>, uid: string): Shares {
  const tieBreak = tieBreakOf(uid);
  const parties = Object.entries(weights).flatMap(([name, weight]) => (weight > 0 ? [{ name, weight, seats: 0 }] : []));
  for (let left = replicas; left > 0; left -= 1) {
    const [first] = parties.toSorted((a, b) => {
      const claim = b.weight * (2 * a.seats + 1) - a.weight * (2 * b.seats + 1);
      return claim || a.seats - b.seats || tieBreak(a.name, b.name);
    });
    if (first) first.seats += 1;
  }
  return new Map(parties.flatMap(({ name, seats }) => (seats > 0 ? [[name, seats]] : [])));
}

function withReplicas(template: KubeObject, replicas: number | undefined): KubeObject {
  if (replicas === undefined || template.kind === 'Job') return template;
  return { ...template, spec: { ...specOf(template), replicas } };
}

function overridden(object: KubeObject, { region, registry }: RegionOverride): KubeObject {
  const text = JSON.stringify(specOf(object)).replaceAll(`${IMAGE_REGISTRY}/`, `${registry}/`);
  const labels = { ...object.metadata?.labels, region };
  return { ...object, metadata: { ...object.metadata, labels }, spec: parseJson(text) as object };
}

function specOf(object: KubeObject): Record<string, unknown> {
  return isJsonObject(object['spec']) ? object['spec'] : {};
}

/** Whether an object is one that goes with workloads: its writes follow from theirs. */
export function isSettingsOf(key: string, workload: { kind: string; name: string }): boolean {
  return key.startsWith('ConfigMap ') && key.endsWith(`/${settingsName(workload)}`);
}

export function isShared(key: string): boolean {
  return key.startsWith('Secret ') && key.endsWith(`/${SHARED_SECRET}`);
}
