import type { Clock } from '@asterism/client';
import {
  deepEqual,
  DEPLOYMENTS,
  type KubeObject,
  labelSelectorFromObject,
  matchesLabels,
  type OwnerReference,
  type Pod,
  POD_DISRUPTION_BUDGETS,
  type PodDisruptionBudget,
  PODS,
  REPLICA_SETS,
  STATEFUL_SETS,
} from '@asterism/machinery';
import { type Cache, createController, generationChanged, type Manager } from '@asterism/runtime';
import { disruptionBudgetStatus } from './disruption-budget-status.ts';
import { controllerOf } from './owned.ts';

/** Keeps the status of PodDisruptionBudgets, which evictions are checked against. */
export function addDisruptionBudgetController(manager: Manager, clock: Clock): void {
  const { cache } = manager.local;
  const budgets = cache.informer(POD_DISRUPTION_BUDGETS);
  cache.informer(DEPLOYMENTS);
  cache.informer(REPLICA_SETS);
  cache.informer(STATEFUL_SETS);
  const ofNamespace = ({ metadata }: KubeObject) =>
    budgets.store
      .list()
      .filter((budget) => budget.metadata?.namespace === metadata?.namespace)
      .map((budget) => ({ cluster: '', namespace: metadata?.namespace, name: budget.metadata?.name ?? '' }));
  manager.add(
    createController({
      name: 'disruption',
      concurrency: 2,
      async reconcile({ namespace, name }, { cluster }) {
        const budget = cluster.cache.get(POD_DISRUPTION_BUDGETS, { namespace, name });
        if (budget === undefined || budget.metadata?.deletionTimestamp) return;
        const pods = cluster.cache.list(PODS, { namespace }).filter((pod) => covers(budget, pod));
        const scale = (covered: readonly Pod[]) => expectedScale(cluster.cache, covered);
        const status = disruptionBudgetStatus(budget, pods, scale, clock.wall().getTime());
        if (!deepEqual(status, budget.status)) {
          await cluster.client
            .resource(POD_DISRUPTION_BUDGETS)
            .update({ ...budget, status }, { subresource: 'status' });
        }
        const { disruptedPods } = status;
        return { requeueAfter: disruptedPods === undefined ? undefined : RECHECK_MS };
      },
    })
      .for(POD_DISRUPTION_BUDGETS)
      .watches(DEPLOYMENTS, ofNamespace, { predicates: [generationChanged] })
      .watches(STATEFUL_SETS, ofNamespace, { predicates: [generationChanged] })
      .watches(PODS, (pod) =>
        budgets.store
          .list()
          .filter((budget) => budget.metadata?.namespace === pod.metadata?.namespace && covers(budget, pod))
          .map(({ metadata }) => ({ cluster: '', namespace: metadata?.namespace, name: metadata?.name ?? '' })),
      ),
  );
}

const RECHECK_MS = 30_000;

function covers({ spec }: PodDisruptionBudget, pod: Pod): boolean {
  return spec?.selector !== undefined && matchesLabels(labelSelectorFromObject(spec.selector), pod.metadata?.labels);
}

/** The replicas that the controllers of these pods are to have, each controller once. */
function expectedScale(cache: Cache, pods: readonly Pod[]): number | { failure: string } {
  const scales = new Map<string, number>();
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (owner === undefined) return { failure: `found no controller ref for pod "${pod.metadata?.name}"` };
    if (scales.has(owner.uid)) continue;
    const found = scaleOf(cache, pod.metadata?.namespace, owner);
    if (found === undefined) return { failure: `${owner.kind} ${owner.name} does not implement the scale subresource` };
    scales.set(owner.uid, 0);
    scales.set(found.uid, found.replicas);
  }
  return [...scales.values()].reduce((sum, replicas) => sum + replicas, 0);
}

function scaleOf(
  cache: Cache,
  namespace: string | undefined,
  { kind, name }: OwnerReference,
): { uid: string; replicas: number } | undefined {
  if (kind === 'ReplicaSet') {
    const set = cache.get(REPLICA_SETS, { namespace, name });
    const above = set && controllerOf(set);
    if (above?.kind === 'Deployment') return scaleOf(cache, namespace, above);
    return set && { uid: set.metadata?.uid ?? '', replicas: set.spec?.replicas ?? 1 };
  }
  if (kind !== 'Deployment' && kind !== 'StatefulSet') return undefined;
  const owner =
    kind === 'Deployment' ? cache.get(DEPLOYMENTS, { namespace, name }) : cache.get(STATEFUL_SETS, { namespace, name });
  return owner && { uid: owner.metadata?.uid ?? '', replicas: owner.spec?.replicas ?? 1 };
}
