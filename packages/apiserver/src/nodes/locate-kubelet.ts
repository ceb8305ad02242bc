import { failure, type Node, NODES } from '@asterism/machinery';
import type { Registry } from '../registry/registry.ts';
import { requireResource } from '../registry/require-resource.ts';
import type { KubeletClientOptions, NetworkAddress, NodeAddressType } from './kubelet-client-options.ts';

const PREFERRED: readonly NodeAddressType[] = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'];
const KUBELET_PORT = 10_250;

/** Where the kubelet of a node listens. Rejects with 404 where there is no such node, with 500 where it says no address. */
export async function locateKubelet(
  registry: Registry,
  name: string,
  { preferredAddressTypes = PREFERRED }: KubeletClientOptions,
): Promise<NetworkAddress> {
  const { status = {} } = (await registry.get(requireResource(registry, NODES), { name })).parse() as Node;
  const addresses = status.addresses ?? [];
  const host = preferredAddressTypes
    .map((type) => addresses.find((each) => each.type === type && each.address !== '')?.address)
    .find((address) => address !== undefined);
  if (host === undefined) throw failure(500, `Internal error occurred: node ${name} has no preferred address`);
  return { host, port: status.daemonEndpoints?.kubeletEndpoint?.Port || KUBELET_PORT };
}
