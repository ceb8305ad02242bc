import type { KubeObject } from '@asterism/machinery';
import type { ContainerUsage } from '../machine/container-runtime.ts';

/** What `/stats/summary` says of a node: what its containers use at this moment, and their sum. */
export function summarize(
  nodeName: string,
  usages: readonly ContainerUsage[],
  pods: readonly KubeObject[],
  now: string,
): object {
  const byPod = new Map<string, ContainerUsage[]>();
  for (const usage of usages) {
    const key = `${usage.ref.namespace}/${usage.ref.pod}`;
    byPod.set(key, [...(byPod.get(key) ?? []), usage]);
  }
  const uids = new Map(pods.map(({ metadata }) => [`${metadata?.namespace}/${metadata?.name}`, metadata?.uid ?? '']));
  return {
    node: { nodeName, startTime: now, ...usageOf(usages, now) },
    pods: [...byPod].map(([key, containers]) => {
      const { namespace, pod } = containers[0]!.ref;
      return {
        podRef: { name: pod, namespace, uid: uids.get(key) ?? '' },
        startTime: now,
        containers: containers.map((usage) => ({
          name: usage.ref.container,
          startTime: now,
          ...usageOf([usage], now),
        })),
        ...usageOf(containers, now),
      };
    }),
  };
}

function usageOf(usages: readonly ContainerUsage[], time: string): object {
  const sum = (of: (usage: ContainerUsage) => number): number => usages.reduce((total, usage) => total + of(usage), 0);
  const workingSetBytes = sum((usage) => usage.memoryBytes);
  return {
    cpu: { time, usageNanoCores: sum((usage) => usage.cpuNanoCores) },
    memory: { time, usageBytes: workingSetBytes, workingSetBytes },
  };
}
