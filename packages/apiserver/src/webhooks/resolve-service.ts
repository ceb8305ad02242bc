import type { EndpointSlice, Service } from '@asterism/machinery';
import type { ServiceAddress, ServiceAt } from '../aggregation/aggregation-options.ts';
import { readyAddresses } from '../aggregation/locate-service.ts';
import type { ObjectStore } from '../storage/object-store.ts';

/** Rejects, in words for the client, where a Service cannot be reached. */
export type ServiceResolver = (service: ServiceAt) => ServiceAddress | Promise<ServiceAddress>;

/** What an option says comes first; undefined leaves it to the rest. */
export interface ServiceResolverOptions {
  store: ObjectStore;
  resolve?: ((service: ServiceAt) => ServiceAddress | undefined | Promise<ServiceAddress | undefined>) | undefined;
  /** In [0, 1). */
  random?: () => number;
}

/**
 * One ready address of the Service's EndpointSlices, at random; where it has no slices at all, its cluster address; of an
 * ExternalName that name. Which of a cluster's addresses a server reaches, it cannot know: give it another resolver then.
 */
export function createServiceResolver({
  store,
  resolve,
  random = Math.random,
}: ServiceResolverOptions): ServiceResolver {
  return async (at) => {
    const resolved = await resolve?.(at);
    if (resolved) return resolved;
    const { namespace, name, port } = at;
    const service = store.get('services', namespace, name)?.parse() as Service | undefined;
    if (!service) throw new Error(`service ${JSON.stringify(name)} not found`);
    const { spec = {} } = service;
    if (spec.type === 'ExternalName') return { host: spec.externalName ?? '', port };
    const wanted = spec.ports?.find((each) => each.port === port);
    if (!wanted) throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`);
    const slices = slicesOf(store, namespace, name);
    if (slices.length === 0 && spec.clusterIP && spec.clusterIP !== 'None') return { host: spec.clusterIP, port };
    const addresses = slices.flatMap((slice) => readyAddresses(slice, wanted.name ?? ''));
    const chosen = addresses[Math.floor(random() * addresses.length)];
    if (!chosen) throw new Error(`no endpoints available for service ${JSON.stringify(name)}`);
    return chosen;
  };
}

function slicesOf(store: ObjectStore, namespace: string, service: string): EndpointSlice[] {
  const prefix = `${namespace}/`;
  return [...store.cache('endpointslices.discovery.k8s.io').entries(prefix, prefix)]
    .map(([, stored]) => stored.parse())
    .filter(({ metadata }) => metadata?.labels?.['kubernetes.io/service-name'] === service) as EndpointSlice[];
}
