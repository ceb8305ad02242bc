import type { Client } from '@asterism/client';
import {
  deepEqual,
  ENDPOINT_SLICES,
  ENDPOINTS,
  type Endpoints,
  type EndpointSlice,
  isAlreadyExists,
  isNotFound,
  type KubeObject,
  NODES,
  PODS,
  type ResourceType,
  SERVICES,
} from '@asterism/machinery';
import { createController, type Manager } from '@asterism/runtime';
import { BY_CONTROLLER, indexByController } from './owned.ts';
import { endpointSlicesOf, ENDPOINTS_MANAGED_BY, endpointsOf, followsPods, selects } from './service-endpoints.ts';

/** Says behind each Service which pods answer for it, in EndpointSlices and in the older Endpoints. */
export function addEndpointSliceController(manager: Manager): void {
  const { cache } = manager.local;
  const services = cache.informer(SERVICES);
  const slices = cache.informer(ENDPOINT_SLICES);
  const nodes = cache.informer(NODES);
  cache.informer(ENDPOINTS);
  slices.addIndex(BY_CONTROLLER, indexByController);
  manager.add(
    createController({
      name: 'endpointslice',
      concurrency: 2,
      async reconcile({ namespace, name }, { cluster }) {
        const { client } = cluster;
        const service = cluster.cache.get(SERVICES, { namespace, name });
        const endpoints = cluster.cache.get(ENDPOINTS, { namespace, name });
        if (service === undefined || !followsPods(service)) {
          const isOurs = endpoints?.metadata?.labels?.[ENDPOINTS_MANAGED_BY] !== undefined;
          if (service === undefined && endpoints && isOurs) await remove(client, ENDPOINTS, endpoints);
          return;
        }
        const pods = cluster.cache.list(PODS, { namespace }).filter((pod) => selects(service, pod));
        const wanted = endpointSlicesOf(service, pods, (node) => nodes.store.get(node));
        const present = slices.store.byIndex(BY_CONTROLLER, service.metadata?.uid ?? '');
        await writeSlices(client, wanted, present);
        await writeEndpoints(client, endpointsOf(service, pods), endpoints);
      },
    })
      .for(SERVICES)
      .owns(ENDPOINT_SLICES)
      .watches(PODS, (pod) =>
        services.store
          .list()
          .filter((service) => service.metadata?.namespace === pod.metadata?.namespace && selects(service, pod))
          .map(({ metadata }) => ({ cluster: '', namespace: metadata?.namespace, name: metadata?.name ?? '' })),
      ),
  );
}

async function writeSlices(
  client: Client,
  wanted: readonly EndpointSlice[],
  present: readonly EndpointSlice[],
): Promise<void> {
  const left = new Map(present.map((slice) => [slice.metadata?.name, slice]));
  // An empty list comes back as null, as from upstream.
  const says = ({ endpoints, ports, metadata }: EndpointSlice) => [
    endpoints ?? [],
    ports ?? [],
    metadata?.labels ?? {},
  ];
  for (const slice of wanted) {
    const before = left.get(slice.metadata?.name);
    left.delete(slice.metadata?.name);
    if (before !== undefined && deepEqual(says(before), says(slice))) continue;
    await write(client, ENDPOINT_SLICES, slice, before);
  }
  for (const slice of left.values()) await remove(client, ENDPOINT_SLICES, slice);
}

async function writeEndpoints(client: Client, wanted: Endpoints, before: Endpoints | undefined): Promise<void> {
  const says = ({ subsets, metadata }: Endpoints) => [subsets ?? [], metadata?.labels ?? {}];
  if (before === undefined || !deepEqual(says(before), says(wanted))) await write(client, ENDPOINTS, wanted, before);
}

async function write<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  wanted: T,
  before: T | undefined,
): Promise<void> {
  try {
    if (before === undefined) await client.resource(type).create(wanted);
    else {
      const metadata = { ...before.metadata, labels: wanted.metadata?.labels ?? {} };
      await client.resource(type).update({ ...wanted, metadata });
    }
  } catch (error) {
    // Made a moment ago, or gone with its Service: the cache will tell.
    if (!isAlreadyExists(error) && !isNotFound(error)) throw error;
  }
}

async function remove<T extends KubeObject>(client: Client, type: ResourceType<T>, { metadata }: T): Promise<void> {
  try {
    await client.resource(type).delete({ namespace: metadata?.namespace, name: metadata?.name ?? '' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
