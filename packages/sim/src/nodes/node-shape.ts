import type { Node, NodeCondition } from '@asterism/machinery';

/** A machine that a simulated member pretends to have. */
export interface NodeShape {
  name: string;
  /** Quantities. */
  cpu: string;
  memory: string;
  pods: number;
  labels?: Record<string, string>;
}

/** What a kubelet tells of itself when it registers its node. */
export interface KubeletIdentity {
  version: string;
  /** Where it is reached, if it is. */
  endpoint?: { host: string; port: number } | undefined;
}

/** The Node object of a machine, as a kubelet would register it. `index` gives it its address and pod range. */
export function nodeObject(shape: NodeShape, index: number, kubelet: KubeletIdentity): Node {
  const { version: kubeletVersion, endpoint } = kubelet;
  const capacity = { cpu: shape.cpu, memory: shape.memory, pods: String(shape.pods), 'ephemeral-storage': '100Gi' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: shape.name,
      labels: {
        'kubernetes.io/hostname': shape.name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        ...shape.labels,
      },
    },
    spec: { podCIDR: `${podRange(index)}.0/24`, podCIDRs: [`${podRange(index)}.0/24`] },
    status: {
      capacity,
      allocatable: capacity,
      addresses: [
        { type: 'InternalIP', address: endpoint?.host ?? nodeAddress(index) },
        { type: 'Hostname', address: shape.name },
      ],
      ...(endpoint ? { daemonEndpoints: { kubeletEndpoint: { Port: endpoint.port } } } : {}),
      nodeInfo: {
        architecture: 'amd64',
        operatingSystem: 'linux',
        kubeletVersion,
        kubeProxyVersion: kubeletVersion,
        containerRuntimeVersion: 'simulated://1.0',
        osImage: 'Asterism simulated node',
        kernelVersion: 'simulated',
        bootID: '',
        machineID: '',
        systemUUID: '',
      },
    },
  };
}

/** A node's own address, of a range for documentation. */
export function nodeAddress(index: number): string {
  return `192.0.2.${(index % 250) + 1}`;
}

/** The first three bytes of a node's pod addresses. */
export function podRange(index: number): string {
  return `10.${244 + Math.floor(index / 256)}.${index % 256}`;
}

/** The conditions of a node that is well. */
export function healthyConditions(now: string): NodeCondition[] {
  const well = (type: string, reason: string, message: string): NodeCondition => ({
    type,
    status: type === 'Ready' ? 'True' : 'False',
    reason,
    message,
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  });
  return [
    well('MemoryPressure', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
    well('DiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    well('PIDPressure', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    well('Ready', 'KubeletReady', 'kubelet is posting ready status'),
  ];
}
