import type { Client, DiscoveredResource, ObjectRef } from '@asterism/client';
import {
  CONFIG_MAPS,
  ENDPOINTS,
  type Endpoints,
  isStatusError,
  type KubeObject,
  PODS,
  type ResourceType,
  SERVICE_CIDRS,
} from '@asterism/machinery';

/** Where a cluster's API server is, and which addresses its pods and Services have. */
export interface Networks {
  /** `host:port`, as its own Endpoints name it. */
  addresses: string[];
  /** Empty where it cannot be found out; nodes may tell more. */
  podCIDRs: string[];
  serviceCIDRs: string[];
}

const API_SERVER: ObjectRef = { namespace: 'default', name: 'kubernetes' };
const KUBEADM: ObjectRef = { namespace: 'kube-system', name: 'kubeadm-config' };
/** Static pods, as kubeadm and most others run them. */
const CONTROL_PLANE = {
  namespace: 'kube-system',
  labelSelector: 'component in (kube-apiserver,kube-controller-manager)',
};

/**
 * Looks where a cluster tells its networks: ServiceCIDRs (Kubernetes 1.33), else the flags of its control plane's pods, else what
 * kubeadm kept. What may not be read is not found.
 */
export async function findNetworks(
  client: Client,
  resources: readonly DiscoveredResource[],
  signal: AbortSignal,
): Promise<Networks> {
  const [addresses, declared, controlPlane, kubeadm] = await Promise.all([
    apiServerAddresses(client, signal),
    declaredServiceCidrs(client, resources, signal),
    controlPlaneFlags(client, signal),
    kubeadmNetworks(client, signal),
  ]);
  return {
    addresses,
    podCIDRs: firstFound(ranges(controlPlane.get('cluster-cidr')), ranges(kubeadm.get('podSubnet'))),
    serviceCIDRs: firstFound(
      declared,
      ranges(controlPlane.get('service-cluster-ip-range')),
      ranges(kubeadm.get('serviceSubnet')),
    ),
  };
}

async function apiServerAddresses(client: Client, signal: AbortSignal): Promise<string[]> {
  return addressesOf(await found(client, ENDPOINTS, API_SERVER, signal));
}

/** `192.0.2.7:6443`, `[2001:db8::7]:6443`; sorted. */
export function addressesOf(endpoints: Endpoints | undefined): string[] {
  return (endpoints?.subsets ?? [])
    .flatMap(({ addresses = [], ports = [] }) =>
      addresses.flatMap(({ ip }) => ports.map(({ port }) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`))),
    )
    .sort();
}

async function declaredServiceCidrs(
  client: Client,
  resources: readonly DiscoveredResource[],
  signal: AbortSignal,
): Promise<string[]> {
  const served = resources.some(
    ({ group, version, resource }) =>
      group === SERVICE_CIDRS.group && version === SERVICE_CIDRS.version && resource === SERVICE_CIDRS.resource,
  );
  if (!served) return [];
  const { items } = await client.resource(SERVICE_CIDRS).list({ signal });
  return items.flatMap(({ spec }) => spec?.cidrs ?? []).sort();
}

/** By flag, without dashes. */
async function controlPlaneFlags(client: Client, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const { items } = await orNothing(client.resource(PODS).list({ ...CONTROL_PLANE, signal }), { items: [] });
  const words = items.flatMap(({ spec }) =>
    (spec?.containers ?? []).flatMap(({ command = [], args = [] }) => [...command, ...args]),
  );
  return new Map(
    words.flatMap((word) => {
      const [, flag, value] = /^--([a-z-]+)=(.+)$/.exec(word) ?? [];
      return flag === undefined || value === undefined ? [] : [[flag, value] as const];
    }),
  );
}

/** Two lines of a YAML that is kubeadm's own. */
async function kubeadmNetworks(client: Client, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const map = await found(client, CONFIG_MAPS, KUBEADM, signal);
  const text = map?.data?.['ClusterConfiguration'] ?? '';
  return subnetsOf(text);
}

/** By name. Reads each line once: a member wrote the text. */
export function subnetsOf(clusterConfiguration: string): ReadonlyMap<string, string> {
  const lines = clusterConfiguration.split('\n').map((line) => SUBNET.exec(line));
  return new Map(lines.flatMap((found) => (found ? [[found[1] ?? '', found[2] ?? ''] as const] : [])));
}

const SUBNET = /^\s+(podSubnet|serviceSubnet): *"?([0-9a-fA-F.:/,]+)"?\s*$/;

function ranges(text: string | undefined): string[] {
  return text === undefined ? [] : text.split(',').filter((range) => range.includes('/'));
}

function firstFound(...all: readonly string[][]): string[] {
  return all.find((ranges) => ranges.length > 0) ?? [];
}

async function found<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  ref: ObjectRef,
  signal: AbortSignal,
): Promise<T | undefined> {
  return orNothing<T | undefined>(client.resource(type).get(ref, { signal }), undefined);
}

/** What is not there, and what may not be read, are no failures here. */
async function orNothing<T>(asked: Promise<T>, nothing: T): Promise<T> {
  return asked.catch((error: unknown) => {
    if (isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')) return nothing;
    throw error;
  });
}
