import { API_VERSION, type PropagationPolicy } from '@asterism/fleet/api';
import type { Deployment } from '@asterism/machinery';

export const NAMESPACE = 'bench';

/** Chosen by a policy of this name: every member, or the two that were named. */
export type Spread = 'all' | 'two';

/** One replica in each cluster. */
export function benchDeployment(name: string, spread: Spread | 'nowhere', replicas = 1): Deployment {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: NAMESPACE, labels: { ...labels, spread } },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: 'web',
              image: 'registry.example/web:1.27',
              ports: [{ containerPort: 8080 }],
              resources: { requests: { cpu: '10m', memory: '16Mi' } },
            },
          ],
        },
      },
    },
  };
}

/** Every cluster gets the whole Deployment. */
export function allPolicy(): PropagationPolicy {
  return policy('all', { clusterAffinity: {} });
}

/** Replicas are divided over two clusters by static weights, as in the figures that others published. */
export function twoPolicy(clusters: readonly string[]): PropagationPolicy {
  return policy('two', {
    clusterAffinity: { clusterNames: [...clusters] },
    replicaScheduling: {
      replicaSchedulingType: 'Divided',
      replicaDivisionPreference: 'Weighted',
      weightPreference: {
        staticWeightList: clusters.map((cluster) => ({ targetCluster: { clusterNames: [cluster] }, weight: 1 })),
      },
    },
  });
}

function policy(spread: Spread, placement: NonNullable<PropagationPolicy['spec']['placement']>): PropagationPolicy {
  return {
    apiVersion: API_VERSION,
    kind: 'PropagationPolicy',
    metadata: { name: spread, namespace: NAMESPACE },
    spec: {
      resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', labelSelector: { matchLabels: { spread } } }],
      placement,
    },
  };
}
