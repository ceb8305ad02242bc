import { isIP } from 'node:net';
import { badRequest, failure, type Pod, PODS, type Service, SERVICES } from '@asterism/machinery';
import { readSlices, readyAddresses } from '../aggregation/locate-service.ts';
import type { Registry } from '../registry/registry.ts';
import { requireResource } from '../registry/require-resource.ts';
import type { NetworkAddress } from './kubelet-client-options.ts';
import type { SplitName } from './split-name.ts';

const DEFAULT_PORTS = { http: 80, https: 443, '': 80 };

/** The address of a pod, at a port of its first container that has one, unless another was asked for. */
export async function locatePod(
  registry: Registry,
  namespace: string,
  { scheme, name, port }: SplitName,
): Promise<NetworkAddress> {
  const pod = (await registry.get(requireResource(registry, PODS), { namespace, name })).parse() as Pod;
  const host = pod.status?.podIP ?? '';
  if (!isOfPods(host)) throw badRequest('address not allowed');
  const declared = pod.spec?.containers.flatMap(({ ports = [] }) => ports).at(0)?.containerPort;
  if (port === '') return { host, port: declared ?? DEFAULT_PORTS[scheme] };
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 0xffff) {
    throw badRequest(`invalid pod request ${JSON.stringify(`${name}:${port}`)}`);
  }
  return { host, port: Number(port) };
}

/** One of the ready endpoints of a service, at the port of this name or number. Rejects with 503 where there is none. */
export async function locateEndpoint(
  registry: Registry,
  namespace: string,
  { name, port }: SplitName,
  random: () => number,
): Promise<NetworkAddress> {
  const service = (await registry.get(requireResource(registry, SERVICES), { namespace, name })).parse() as Service;
  const portName = portNameOf(service, name, port);
  const slices = await readSlices(registry, { namespace, name });
  const addresses = slices.flatMap((slice) => readyAddresses(slice, portName));
  if (addresses.length === 0) {
    throw failure(503, `no endpoints available for service ${JSON.stringify(name)}`, { details: {} });
  }
  const address = addresses[Math.floor(random() * addresses.length)]!;
  if (!isOfPods(address.host)) throw badRequest('address not allowed');
  return address;
}

function portNameOf({ spec }: Service, name: string, port: string): string {
  if (!/^\d+$/.test(port)) return port;
  const found = spec?.ports?.find((each) => each.port === Number(port));
  if (found !== undefined) return found.name ?? '';
  throw failure(503, `no service port ${port} found for service ${JSON.stringify(name)}`, { details: {} });
}

/** Neither this machine itself nor anything but a host: what a pod says its address is may be a lie. */
function isOfPods(host: string): boolean {
  const version = isIP(host);
  if (version === 4) return !/^(0\.|127\.|169\.254\.|22[4-9]\.|2[3-5]\d\.)/.test(host);
  return version === 6 && !/^(::|fe[89ab]|ff|::ffff:)/i.test(host);
}
