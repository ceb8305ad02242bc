import type { Cluster } from '@asterism/fleet/api';
import { summarizeNodes } from '@asterism/fleet/capacity';

const GIB = 2 ** 30;
const SERVED_GROUPS = 30;

/** What a cluster of so many nodes, each full to another degree, says of what is free on them. */
export function nodeCapacityOf(nodes: number, random: () => number) {
  return summarizeNodes(
    Array.from({ length: nodes }, (_, index) => ({
      name: `node-${index}`,
      labels: { 'topology.kubernetes.io/zone': `z${index % 3}` },
      taints: [],
      free: {
        cpu: Math.floor(random() * 16_000),
        memory: Math.floor(random() * 64) * GIB,
        pods: Math.floor(random() * 110),
      },
    })),
  );
}

export interface FleetShape {
  clusters: number;
  /** Nodes of each cluster. */
  nodes: number;
}

/** Clusters of 8 regions, with labels, served APIs and grades of their nodes as agents tell them. */
export function fleetOf({ clusters, nodes }: FleetShape, random: () => number): Cluster[] {
  return Array.from({ length: clusters }, (_, index): Cluster => {
    const name = `member-${String(index).padStart(4, '0')}`;
    const free = { cpu: `${Math.floor(random() * nodes * 8)}`, memory: `${Math.floor(random() * nodes * 32)}Gi` };
    return {
      apiVersion: 'asterism.dev/v1alpha1',
      kind: 'Cluster',
      metadata: { name, labels: { tier: index % 10 === 0 ? 'silver' : 'gold' } },
      spec: {
        id: `id-of-${name}`,
        syncMode: 'Push',
        connection: { type: 'Tunnel' },
        region: `region-${index % 8}`,
        zones: [`zone-${index % 24}`],
        taints: index % 20 === 0 ? [{ key: 'maintenance', effect: 'NoSchedule' }] : [],
      },
      status: {
        resources: {
          allocatable: { cpu: `${nodes * 16}`, memory: `${nodes * 64}Gi`, pods: `${nodes * 110}` },
          allocated: { ...free, pods: `${Math.floor(random() * nodes * 55)}` },
        },
        nodeCapacity: nodeCapacityOf(nodes, random),
        apis: Array.from({ length: SERVED_GROUPS }, (__, group) => ({
          groupVersion: group === SERVED_GROUPS - 1 ? 'apps/v1' : `group-${group}.example.com/v1`,
          resources: [{ name: 'deployments', kind: 'Deployment', namespaced: true }],
        })),
      },
    };
  });
}
