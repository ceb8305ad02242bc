import { isJsonObject } from '@asterism/machinery';
import { byName } from '../../template/tie-break.ts';
import { type Aggregate, type Aggregation, statusesOf } from './aggregation.ts';
import { objectsOf, type Status, textOf } from './status-fields.ts';

/** The addresses of all clusters. Only a Service of type LoadBalancer has any. */
export const aggregateService: Aggregate = (aggregation) => {
  const { spec } = aggregation.template;
  return isJsonObject(spec) && spec['type'] === 'LoadBalancer' ? joined(aggregation) : undefined;
};

export const aggregateIngress: Aggregate = (aggregation) => joined(aggregation);

/** Each address once, sorted. */
function joined(aggregation: Aggregation): Status {
  const byAddress = new Map<string, Status>();
  for (const status of statusesOf(aggregation)) {
    const { loadBalancer } = status ?? {};
    for (const entry of objectsOf(isJsonObject(loadBalancer) ? loadBalancer : undefined, 'ingress')) {
      byAddress.set(`${textOf(entry, 'ip') ?? ''} ${textOf(entry, 'hostname') ?? ''}`, entry);
    }
  }
  const ingress = [...byAddress].toSorted(([a], [b]) => byName(a, b)).map(([, entry]) => entry);
  return { loadBalancer: ingress.length > 0 ? { ingress } : {} };
}
