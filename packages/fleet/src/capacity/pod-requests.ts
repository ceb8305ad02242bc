import type { Container, Pod } from '@asterism/machinery';
import { type Amounts, addAmounts, largerAmounts, readAmounts } from './amounts.ts';

/**
 * What a pod asks of its node, as the scheduler counts (`k8s.io/component-helpers/resource`): its containers and sidecars
 * together, or more where an init container, with the sidecars that started before it, asks for more (KEP-753); what is asked
 * for the pod as a whole instead (KEP-2837); and its overhead. A container that is being resized counts with the largest of what
 * it asks for, was granted and has (KEP-1287).
 */
export function podRequests(pod: Pod): Record<string, number> {
  const { spec } = pod;
  const requestsOf = containerRequests(pod);
  const sidecars: Record<string, number> = {};
  let starting: Amounts = {};
  for (const container of spec?.initContainers ?? []) {
    const requests = requestsOf(container);
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
  for (const container of spec?.containers ?? []) addAmounts(working, requestsOf(container));
  const total = { ...largerAmounts(working, starting), ...readAmounts(spec?.resources?.requests) };
  addAmounts(total, readAmounts(spec?.overhead));
  return total;
}

function containerRequests({ status }: Pod): (container: Container) => Amounts {
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const infeasible =
    status?.conditions?.some(({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible') ?? false;
  return ({ name, resources }) => {
    const asked = readAmounts(resources?.requests);
    const found = statuses.find((each) => each.name === name);
    if (!found?.resources) return asked;
    const given = largerAmounts(readAmounts(found.resources.requests), readAmounts(found.allocatedResources));
    return infeasible ? given : largerAmounts(asked, given);
  };
}
