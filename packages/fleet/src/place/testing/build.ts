import type { KubeObject } from '@asterism/machinery';
import type { Cluster } from '../../api/index.ts';

/** Objects for tests: what a test does not care about is filled in. */

export interface ClusterParts {
  labels?: Record<string, string>;
  region?: string;
  provider?: string;
  zones?: string[];
  taints?: Cluster['spec']['taints'];
  cpu?: string;
  pods?: string;
  allocated?: Record<string, string>;
  serves?: string[];
  deleting?: boolean;
  syncMode?: Cluster['spec']['syncMode'];
}

/** A healthy cluster of 16 cores that serves Deployments and the core kinds. */
export function cluster(name: string, parts: ClusterParts = {}): Cluster {
  const { labels, region, provider, zones, taints, cpu = '16', pods = '110', allocated = {}, serves } = parts;
  const kinds = serves ?? ['apps/v1/Deployment', 'apps/v1/DaemonSet', 'v1/ConfigMap', 'v1/Secret', 'v1/Service'];
  const apis = Map.groupBy(kinds, (kind) => kind.slice(0, kind.lastIndexOf('/')));
  return {
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'Cluster',
    metadata: {
      name,
      ...(labels ? { labels } : {}),
      ...(parts.deleting ? { deletionTimestamp: '2026-01-02T03:04:05Z' } : {}),
    },
    spec: {
      id: `id-of-${name}`,
      syncMode: parts.syncMode ?? 'Push',
      connection: { type: 'Direct' },
      ...(region ? { region } : {}),
      ...(provider ? { provider } : {}),
      ...(zones ? { zones } : {}),
      ...(taints ? { taints } : {}),
    },
    status: {
      resources: { allocatable: { cpu, pods, memory: '64Gi' }, allocated: { cpu: '0', pods: '0', ...allocated } },
      apis: [...apis].map(([groupVersion, list]) => ({
        groupVersion,
        resources: list.map((each) => {
          const kind = each.slice(each.lastIndexOf('/') + 1);
          return { name: `${kind.toLowerCase()}s`, kind, namespaced: true };
        }),
      })),
    },
  };
}

/** A Deployment `demo/web` of one container. */
export function deployment(
  replicas: number,
  extra: { labels?: Record<string, string>; podSpec?: object } = {},
): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'demo', uid: 'uid-of-web', ...(extra.labels ? { labels: extra.labels } : {}) },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image: 'nginx:1.29' }], ...extra.podSpec },
      },
    },
  };
}
