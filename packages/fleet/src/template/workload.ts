import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  isJsonObject,
  type KubeObject,
  parseQuantity,
  type PodSpec,
  type Quantity,
} from '@asterism/machinery';
import { type NodeClaim, nodeClaimOf } from '../capacity/index.ts';
import { podSpecOf } from './pod-template.ts';

/** What there is to divide of a template, and what one part of it needs. */
export interface Workload {
  replicas: number;
  /** Requests of one pod by resource, as quantities; empty where it asks for nothing. */
  requirements: Readonly<Record<string, string>>;
  /** Which nodes its pods may go to; absent where any will do. */
  claim?: NodeClaim | undefined;
}

/** Where a kind says how many pods it wants. Kubernetes' default for each of them is 1. */
const REPLICA_FIELDS: ReadonlyMap<string, string> = new Map([
  ['Deployment.apps', 'replicas'],
  ['StatefulSet.apps', 'replicas'],
  ['ReplicaSet.apps', 'replicas'],
  ['Job.batch', 'parallelism'],
]);

type Requests = Map<string, Quantity>;

/**
 * The replicas of a template; undefined for a kind that has none to divide (a Service, a DaemonSet): it goes whole to every
 * chosen cluster. A workload of 0 replicas stays a workload.
 */
export function workloadOf(template: KubeObject): Workload | undefined {
  const replicas = isPod(template) ? 1 : replicasOf(template);
  return replicas === undefined ? undefined : { replicas, ...needsOf(template) };
}

/**
 * How many pods the object wants at a time; undefined for a kind that does not say. A Job never runs more than it has completions,
 * so a greater parallelism counts as these, as in Karmada.
 */
export function replicasOf(object: KubeObject): number | undefined {
  const field = replicaFieldOf(object);
  if (!field) return undefined;
  const spec = isJsonObject(object['spec']) ? object['spec'] : {};
  const { [field]: replicas = 1, completions } = spec;
  const wanted = typeof replicas === 'number' ? replicas : 1;
  return field === 'parallelism' && typeof completions === 'number' ? Math.min(wanted, completions) : wanted;
}

/** The field of `spec` that holds the number of pods: `replicas`, or `parallelism` of a Job. */
export function replicaFieldOf({ apiVersion = '', kind = '' }: KubeObject): string | undefined {
  return REPLICA_FIELDS.get(`${kind}.${apiVersion.split('/')[0]}`);
}

function isPod({ apiVersion, kind }: KubeObject): boolean {
  return apiVersion === 'v1' && kind === 'Pod';
}

function needsOf(template: KubeObject): Pick<Workload, 'requirements' | 'claim'> {
  const spec = podSpecOf(template);
  if (!spec) return { requirements: {} };
  const entries = [...podRequests(spec)].filter(([, quantity]) => quantity.nanos > 0n);
  const claim = nodeClaimOf(spec);
  return {
    requirements: Object.fromEntries(entries.map(([resource, quantity]) => [resource, formatQuantity(quantity)])),
    ...(Object.keys(claim).length > 0 ? { claim } : {}),
  };
}

/**
 * What a scheduler reserves for the pod: the sum over its containers and sidecars (init containers that always restart), at
 * least what an init container needs beside the sidecars started before it, and the overhead of its runtime class.
 */
function podRequests({ containers, initContainers = [], overhead }: PodSpec): Requests {
  const running: Requests = new Map();
  const starting: Requests = new Map();
  const sidecars: Requests = new Map();
  for (const container of containers) add(running, requestsOf(container));
  for (const container of initContainers) {
    const own = requestsOf(container);
    if (container.restartPolicy === 'Always') {
      add(running, own);
      add(sidecars, own);
      raise(starting, sidecars);
    } else {
      const beside: Requests = new Map(sidecars);
      add(beside, own);
      raise(starting, beside);
    }
  }
  raise(running, starting);
  add(running, parseAll(overhead));
  return running;
}

/** A resource that has a limit and no request is requested at its limit. */
function requestsOf({ resources }: PodSpec['containers'][number]): Requests {
  return parseAll({ ...resources?.limits, ...resources?.requests });
}

function parseAll(list: Readonly<Record<string, string | number>> | undefined): Requests {
  return new Map(Object.entries(list ?? {}).map(([resource, text]) => [resource, parseQuantity(text)]));
}

function add(sum: Requests, more: Requests): void {
  for (const [resource, quantity] of more) {
    const present = sum.get(resource);
    sum.set(resource, present ? addQuantities(present, quantity) : quantity);
  }
}

function raise(most: Requests, other: Requests): void {
  for (const [resource, quantity] of other) {
    const present = most.get(resource);
    if (!present || compareQuantities(present, quantity) < 0) most.set(resource, quantity);
  }
}
