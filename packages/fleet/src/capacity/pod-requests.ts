import type { Pod, PodSpec } from '@asterism/machinery';
import { type Amounts, addAmounts, largerAmounts, readAmounts } from './amounts.ts';

/**
 * What a pod asks of its node, as the scheduler counts (KEP-753): its containers and sidecars together, or more where an init
 * container, with the sidecars that started before it, asks for more; what is asked for the pod as a whole instead (KEP-2837);
 * and its overhead.
 */
export function podRequests({ spec }: Pod): Record<string, number> {
  const sidecars: Record<string, number> = {};
  let starting: Amounts = {};
  for (const container of spec?.initContainers ?? []) {
    const requests = readAmounts(container.resources?.requests);
    if (container.restartPolicy === 'Always') {
      addAmounts(sidecars, requests);
      starting = largerAmounts(starting, sidecars);
    } else {
      const together = { ...sidecars };
      addAmounts(together, requests);
      starting = largerAmounts(starting, together);
    }
  }
  const working = { ...sidecars };
  for (const container of spec?.containers ?? []) addAmounts(working, readAmounts(container.resources?.requests));
  const total = { ...largerAmounts(working, starting), ...readAmounts(wholePod(spec)) };
  addAmounts(total, readAmounts(spec?.overhead));
  return total;
}

function wholePod(spec: PodSpec | undefined): Readonly<Record<string, string | number>> | undefined {
  return spec?.resources?.requests;
}
