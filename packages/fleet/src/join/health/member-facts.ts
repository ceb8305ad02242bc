import {
  deepEqual,
  type KubeObject,
  type Node,
  type ObjectMeta,
  type Pod,
  NODES,
  PODS,
  type ResourceType,
} from '@asterism/machinery';
import type { Taint } from '../../api/index.ts';
import { type Amounts, podRequests, readAmounts } from '../../capacity/index.ts';

/** What is kept of a node: all that a summary needs, with its quantities read. */
export interface NodeFacts extends KubeObject {
  facts: {
    ready: boolean;
    cordoned: boolean;
    labels: Readonly<Record<string, string>>;
    taints: readonly Taint[];
    capacity: Amounts;
    allocatable: Amounts;
    podCIDRs: readonly string[];
  };
}

/** What is kept of a pod: some 350 bytes of several thousand. */
export interface PodFacts extends KubeObject {
  facts: {
    node: string;
    phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
    /** Nothing once it has ended. */
    requests: Amounts;
  };
}

/** Nodes and pods as {@link nodeFacts} and {@link podFacts} leave them in a cache. */
export const NODE_FACTS = NODES as unknown as ResourceType<NodeFacts>;
export const POD_FACTS = PODS as unknown as ResourceType<PodFacts>;

export function nodeFacts({ metadata, spec, status }: Node): NodeFacts {
  return {
    metadata: identityOf(metadata),
    facts: {
      ready: status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false,
      cordoned: spec?.unschedulable ?? false,
      labels: metadata?.labels ?? {},
      taints: (spec?.taints ?? []).map(
        ({ key, value, effect }) => ({ key, ...(value ? { value } : {}), effect }) as Taint,
      ),
      capacity: readAmounts(status?.capacity),
      allocatable: readAmounts(status?.allocatable),
      podCIDRs: spec?.podCIDRs ?? (spec?.podCIDR ? [spec.podCIDR] : []),
    },
  };
}

const NOTHING: Amounts = {};

export function podFacts(pod: Pod): PodFacts {
  const phase = pod.status?.phase ?? 'Pending';
  const ended = phase === 'Succeeded' || phase === 'Failed';
  return {
    metadata: identityOf(pod.metadata),
    facts: { node: pod.spec?.nodeName ?? '', phase, requests: ended ? NOTHING : podRequests(pod) },
  };
}

/** As informers take them: what goes in is the object as it came, what comes out is what is kept. */
export const keepNodeFacts = nodeFacts as unknown as (node: NodeFacts) => NodeFacts;
export const keepPodFacts = podFacts as unknown as (pod: PodFacts) => PodFacts;

/** Whether a change is one that a summary can see: a kubelet writes its node's status every few minutes for nothing. */
export function factsDiffer(before: NodeFacts | PodFacts, after: NodeFacts | PodFacts): boolean {
  return !deepEqual(before.facts, after.facts);
}

function identityOf({ name, namespace, uid, resourceVersion }: ObjectMeta = {}): ObjectMeta {
  return {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}
