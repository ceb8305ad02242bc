import { milliValue, parseQuantity, type Pod, quantityToNumber } from '@asterism/machinery';

/** What a pod asks of a node, or what a node has: CPU in thousandths, memory in bytes, and pods. */
export interface Resources {
  milliCpu: number;
  memory: number;
  pods: number;
}

/**
 * A pod takes the sum of its containers, or the largest init container if that is more (they run one after the other).
 */
export function podRequests(pod: Pod): Resources {
  const of = (container: { resources?: { requests?: Record<string, string | number> } }): Resources => ({
    milliCpu: milliValue(parseQuantity(container.resources?.requests?.['cpu'] ?? '0')),
    memory: quantityToNumber(parseQuantity(container.resources?.requests?.['memory'] ?? '0')),
    pods: 0,
  });
  const running = (pod.spec?.containers ?? []).map(of).reduce(add, NOTHING);
  const starting = (pod.spec?.initContainers ?? []).map(of).reduce(larger, NOTHING);
  return { ...larger(running, starting), pods: 1 };
}

export const NOTHING: Resources = { milliCpu: 0, memory: 0, pods: 0 };

export function add(a: Resources, b: Resources): Resources {
  return { milliCpu: a.milliCpu + b.milliCpu, memory: a.memory + b.memory, pods: a.pods + b.pods };
}

function larger(a: Resources, b: Resources): Resources {
  return {
    milliCpu: Math.max(a.milliCpu, b.milliCpu),
    memory: Math.max(a.memory, b.memory),
    pods: Math.max(a.pods, b.pods),
  };
}

export function subtract(a: Resources, b: Resources): Resources {
  return { milliCpu: a.milliCpu - b.milliCpu, memory: a.memory - b.memory, pods: a.pods - b.pods };
}
