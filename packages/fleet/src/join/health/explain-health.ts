import { findCondition, formatAge } from '@asterism/machinery';
import type { Cluster } from '../../api/index.ts';

/** How a cluster is, in words for people. */
export interface HealthInWords {
  /** `Ready for 3d`. */
  state: string;
  why: string;
  /** What follows from it for work and data; empty where all is well. */
  consequences: string[];
  /** What to look at, in this order; empty where there is nothing to do. */
  advice: string[];
}

/** @param renewTime of its Lease, RFC 3339, where there is one. */
export function explainHealth(cluster: Cluster, renewTime: string | undefined, now: number): HealthInWords {
  const ready = findCondition(cluster.status?.conditions, 'Ready');
  const name = cluster.metadata.name ?? '';
  if (!ready) {
    return {
      state: 'Joined, and not heard yet',
      why: 'its agent has reported nothing so far',
      consequences: ['nothing is placed there that needs a kind it has not told of'],
      advice: adviceFor('AgentNeverSeen', cluster),
    };
  }
  const word = ready.status === 'True' ? 'Ready' : ready.status === 'False' ? 'Not ready' : 'Unknown';
  const since = `${word} for ${formatAge(now - Date.parse(ready.lastTransitionTime))}, since ${ready.lastTransitionTime}`;
  const heard = renewTime === undefined ? '' : `; last heard ${formatAge(now - Date.parse(renewTime))} ago`;
  return {
    state: ready.status === 'Unknown' ? `${since}${heard}` : since,
    why: ready.message,
    consequences: consequencesOf(cluster, ready.status),
    advice: [...adviceFor(ready.reason, cluster), ...adviceForNodes(cluster, name)],
  };
}

function consequencesOf({ spec }: Cluster, ready: string): string[] {
  if (ready === 'True') return [];
  const keys = (spec.taints ?? []).filter(({ key }) => key.startsWith('asterism.dev/')).map(({ key }) => key);
  return [
    ...(keys.length > 0 ? [`nothing new is placed there that does not tolerate ${keys.join(', ')}`] : []),
    'what runs there goes on running, and is not moved',
    ...(ready === 'Unknown' ? ['all figures below are as they were last heard'] : []),
  ];
}

/** The way between the two ends, from the end that can be looked at first. */
function adviceFor(reason: string, { metadata: { name = '' }, spec }: Cluster): string[] {
  const failing = 'ask it itself, in the cluster: kubectl get --raw "/readyz?verbose"';
  switch (reason) {
    case 'AgentSilent':
    case 'AgentNeverSeen':
      return [
        'see in the cluster whether the agent runs, and what its log says: it tells what it tries and what refuses it',
        'from its machine, see whether the hub answers: curl --cacert HUB-CA https://HUB/readyz',
        `if the cluster is gone for good: kubectl delete cluster ${name}`,
      ];
    case 'ClusterUnreachable':
    case 'ApiServerUnreachable':
      return spec.connection.type === 'Direct' && spec.connection.apiEndpoint !== undefined
        ? [`see whether ${spec.connection.apiEndpoint} answers, from where the hub is, or its agent`]
        : ['see in the cluster whether its API server runs, and whether the agent has its address'];
    case 'ApiServerNotReady':
      return ['see to the checks that fail; etcd: whether it runs, has a leader and has space', failing];
    case 'CredentialRefused':
      return ['give the agent a credential that the API server knows: the service account of its manifests'];
    case 'HealthForbidden':
      return ["apply the agent's manifests in the cluster again: aster agent manifests"];
    default:
      return [];
  }
}

function adviceForNodes({ status }: Cluster, name: string): string[] {
  const { notReady = 0, ready = 0, schedulable = ready } = status?.nodes ?? {};
  return [
    ...(notReady > 0 ? [`${notReady} of its nodes are not ready: aster get nodes -C ${name}`] : []),
    ...(ready > 0 && schedulable === 0 ? [`all its nodes are cordoned: aster get nodes -C ${name}`] : []),
  ];
}
