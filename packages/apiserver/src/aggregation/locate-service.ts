import {
  ENDPOINT_SLICES,
  type EndpointSlice,
  isNotFound,
  type Service,
  type ServicePort,
  SERVICES,
} from '@asterism/machinery';
import type { Registry } from '../registry/registry.ts';
import { requireResource } from '../registry/require-resource.ts';
import type { AggregationOptions, ServiceAddress, ServiceAt } from './aggregation-options.ts';

/** Where a service is to be called, or why it cannot be, in the words of the `Available` condition. */
export type Location = { address: ServiceAddress } | { reason: string; message: string };

export interface LocateOptions extends Pick<AggregationOptions, 'resolve' | 'routing'> {
  registry: Registry;
  /** In [0, 1). */
  random: () => number;
}

/** Looks a service up, by upstream's rules. */
export async function locateService(options: LocateOptions, at: ServiceAt): Promise<Location> {
  const resolved = await options.resolve?.(at);
  if (resolved !== undefined) return { address: resolved };
  const what = `service/${at.name} in "${at.namespace}"`;
  const service = await readService(options.registry, at);
  if (service === undefined) return { reason: 'ServiceNotFound', message: `${what} is not present` };
  const { type = 'ClusterIP', clusterIP = '', externalName = '', ports = [] } = service.spec ?? {};
  // A service of this type leads wherever it says, at whatever port.
  if (type === 'ExternalName') return { address: { host: externalName, port: at.port } };
  if (type === 'ClusterIP' || options.routing === 'endpoints') {
    const ready = await readyEndpoints(options.registry, at, ports);
    if ('reason' in ready) return ready;
    const { addresses } = ready;
    if (options.routing === 'endpoints') {
      return { address: addresses[Math.floor(options.random() * addresses.length)]! };
    }
  }
  if (clusterIP === '' || clusterIP === 'None') {
    return { reason: 'ServiceAccessError', message: `${what} has no cluster address to be called at` };
  }
  return { address: { host: clusterIP, port: at.port } };
}

/** At least one, or why there is none. */
async function readyEndpoints(
  registry: Registry,
  at: ServiceAt,
  ports: readonly ServicePort[],
): Promise<{ addresses: ServiceAddress[] } | { reason: string; message: string }> {
  const what = `service/${at.name} in "${at.namespace}"`;
  const port = ports.find((each) => each.port === at.port);
  if (port === undefined) {
    return { reason: 'ServicePortError', message: `${what} is not listening on port ${at.port}` };
  }
  const slices = await readSlices(registry, at);
  if (slices.length === 0) {
    return { reason: 'EndpointsNotFound', message: `cannot find endpointslices for ${what}` };
  }
  const { name = '' } = port;
  const addresses = slices.flatMap((slice) => readyAddresses(slice, name));
  if (addresses.length > 0) return { addresses };
  const message = `endpointslices for ${what} have no addresses with port name ${JSON.stringify(name)}`;
  return { reason: 'MissingEndpoints', message };
}

async function readService(registry: Registry, { namespace, name }: ServiceAt): Promise<Service | undefined> {
  try {
    return (await registry.get(requireResource(registry, SERVICES), { namespace, name })).parse() as Service;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** The EndpointSlices of a service. */
export async function readSlices(
  registry: Registry,
  { namespace, name }: Pick<ServiceAt, 'namespace' | 'name'>,
): Promise<EndpointSlice[]> {
  const labelSelector = `kubernetes.io/service-name=${name}`;
  const { items } = await registry.list(requireResource(registry, ENDPOINT_SLICES), { namespace, labelSelector });
  return items.map((stored) => stored.parse() as EndpointSlice);
}

/** Of the port of this name; an endpoint that does not say whether it is ready is. */
export function readyAddresses({ endpoints, ports }: EndpointSlice, portName: string): ServiceAddress[] {
  const port = ports?.find(({ name = '' }) => name === portName)?.port;
  if (port === undefined) return [];
  return (endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready !== false)
    .flatMap(({ addresses }) => addresses.map((host) => ({ host, port })));
}
