import type { NodeShape } from '@asterism/sim';

/** One simulated member of `aster up`: what it is like, and how it joins. */
export interface MemberPlan {
  name: string;
  syncMode: 'Push' | 'Pull';
  /** Nobody but its agent knows its address. */
  private: boolean;
  provider: string;
  region: string;
  zones: string[];
  labels: Record<string, string>;
  nodes: NodeShape[];
}

const NAMES = ['alder', 'cedar', 'birch', 'dogwood', 'elm', 'fir', 'ginkgo', 'hazel', 'ivy', 'juniper'];

/** The kinds of member that there are, taken in turn: one that the hub dials, a private one that dials the hub, one that dials it and is not. */
const KINDS = [
  {
    syncMode: 'Push',
    private: false,
    provider: 'acme',
    region: 'eu-central',
    tier: 'production',
    nodes: 3,
    cpu: '8',
    memory: '32Gi',
  },
  {
    syncMode: 'Pull',
    private: true,
    provider: 'edgeworks',
    region: 'ap-south',
    tier: 'production',
    nodes: 4,
    cpu: '16',
    memory: '64Gi',
  },
  {
    syncMode: 'Pull',
    private: false,
    provider: 'acme',
    region: 'us-east',
    tier: 'staging',
    nodes: 2,
    cpu: '4',
    memory: '16Gi',
  },
] as const;

export function planMembers(count: number): MemberPlan[] {
  return Array.from({ length: count }, (_, index) => planMember(index));
}

function planMember(index: number): MemberPlan {
  const kind = KINDS[index % KINDS.length] ?? KINDS[0];
  const round = Math.floor(index / NAMES.length);
  const name = `${NAMES[index % NAMES.length]}${round === 0 ? '' : `-${round + 1}`}`;
  const zones = [`${kind.region}-a`, `${kind.region}-b`];
  return {
    name,
    syncMode: kind.syncMode,
    private: kind.private,
    provider: kind.provider,
    region: kind.region,
    zones,
    labels: { tier: kind.tier, region: kind.region },
    nodes: Array.from({ length: kind.nodes }, (__, node) => ({
      name: `${name}-${node + 1}`,
      cpu: kind.cpu,
      memory: kind.memory,
      pods: 110,
      labels: {
        'topology.kubernetes.io/region': kind.region,
        'topology.kubernetes.io/zone': zones[node % zones.length] ?? kind.region,
      },
    })),
  };
}
