import type { Binding } from './binding-client.ts';
import { byName } from './tie-break.ts';

type BindingSpec = Binding['spec'];

/** Whether nothing may be written to this cluster for the binding, for the time being. */
export function isDispatchingSuspended({ suspension }: BindingSpec, cluster: string): boolean {
  return (suspension?.dispatching || suspension?.dispatchingOnClusters?.clusterNames?.includes(cluster)) ?? false;
}

/** What holds back any parent holds back what only follows: a held workload keeps the configuration that it runs with. */
export function suspensionOfParents(parents: readonly Binding[]): Pick<BindingSpec, 'suspension'> {
  if (parents.some(({ spec }) => spec.suspension?.dispatching)) return { suspension: { dispatching: true } };
  const held = parents.flatMap(({ spec }) => spec.suspension?.dispatchingOnClusters?.clusterNames ?? []);
  const clusterNames = [...new Set(held)].toSorted(byName);
  return clusterNames.length > 0 ? { suspension: { dispatchingOnClusters: { clusterNames } } } : {};
}
