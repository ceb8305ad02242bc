import type { Endpoints, Service } from '../generated/core-v1.ts';
import type { EndpointSlice } from '../generated/discovery-v1.ts';
import type { IPAddress, Ingress, IngressClass, NetworkPolicy, ServiceCIDR } from '../generated/networking-v1.ts';
import { formatGroupResource } from '../kinds.ts';
import { NONE, UNKNOWN, UNSET, abridge, joined, labelsText, selectorText } from './cell-text.ts';
import { AGE, NAME, type TablePrinter, definePrinter, text, wide } from './table-printer.ts';

/** So many hosts, ports and addresses stand in a cell. */
const SHOWN = 3;

export const SERVICE_PRINTER: TablePrinter = definePrinter<Service>([
  NAME,
  text('Type', ({ spec }) => spec?.type ?? ''),
  text('Cluster-IP', ({ spec }) => spec?.clusterIPs?.[0] || spec?.clusterIP || NONE),
  text('External-IP', externalAddresses),
  text('Port(s)', servicePorts),
  AGE,
  ...wide<Service>(text('Selector', ({ spec }) => labelsText(spec?.selector))),
]);

export const INGRESS_PRINTER: TablePrinter = definePrinter<Ingress>([
  NAME,
  text('Class', ({ spec }) => spec?.ingressClassName ?? NONE),
  text('Hosts', ingressHosts),
  text('Address', ({ status }) => loadBalancerAddresses(status).join(',')),
  text('Ports', ({ spec }) => (spec?.tls?.length ? '80, 443' : '80')),
  AGE,
]);

export const INGRESS_CLASS_PRINTER: TablePrinter = definePrinter<IngressClass>([
  NAME,
  text('Controller', ({ spec }) => spec?.controller ?? ''),
  text('Parameters', ingressClassParameters),
  AGE,
]);

export const ENDPOINTS_PRINTER: TablePrinter = definePrinter<Endpoints>([
  NAME,
  text('Endpoints', (endpoints) => abridge(hostPorts(endpoints), SHOWN) || (endpoints.subsets?.length ? '' : NONE)),
  AGE,
]);

export const ENDPOINT_SLICE_PRINTER: TablePrinter = definePrinter<EndpointSlice>([
  NAME,
  text('AddressType', ({ addressType }) => addressType),
  text(
    'Ports',
    ({ ports }) =>
      abridge(
        (ports ?? []).map(({ port, name }) => `${port ?? name ?? '*'}`),
        SHOWN,
      ) || UNSET,
  ),
  text(
    'Endpoints',
    ({ endpoints }) =>
      abridge(
        (endpoints ?? []).flatMap(({ addresses }) => addresses ?? []),
        SHOWN,
      ) || UNSET,
  ),
  AGE,
]);

export const NETWORK_POLICY_PRINTER: TablePrinter = definePrinter<NetworkPolicy>([
  NAME,
  text('Pod-Selector', ({ spec }) => selectorText(spec?.podSelector)),
  AGE,
]);

export const SERVICE_CIDR_PRINTER: TablePrinter = definePrinter<ServiceCIDR>([
  NAME,
  text('CIDRs', ({ spec }) => (spec?.cidrs ?? []).join(',')),
  AGE,
]);

const IP_ADDRESS = definePrinter<IPAddress>([NAME, text('ParentRef', parentReference), AGE]);

/** Its rows have an age, for which upstream has no column. */
export const IP_ADDRESS_PRINTER: TablePrinter = { ...IP_ADDRESS, columns: IP_ADDRESS.columns.slice(0, -1) };

function externalAddresses({ spec, status }: Service): string {
  const external = spec?.externalIPs ?? [];
  switch (spec?.type) {
    case 'ExternalName':
      return spec.externalName ?? '';
    case 'LoadBalancer':
      return [...loadBalancerAddresses(status), ...external].join(',') || '<pending>';
    case 'ClusterIP':
    case 'NodePort':
      return joined(external);
    default:
      return UNKNOWN;
  }
}

/** The addresses, sorted and each once, that a load balancer has given a Service or an Ingress. */
function loadBalancerAddresses(status: Service['status'] | Ingress['status']): string[] {
  const points = status?.loadBalancer?.ingress ?? [];
  return [
    ...new Set(points.map(({ ip, hostname }) => ip || hostname || '').filter((address) => address !== '')),
  ].sort();
}

/** `80/TCP`, with a node port `80:30080/TCP`. */
function servicePorts({ spec }: Service): string {
  return joined(
    (spec?.ports ?? []).map(
      ({ port, nodePort, protocol = 'TCP' }) => `${port}${nodePort ? `:${nodePort}` : ''}/${protocol}`,
    ),
  );
}

function ingressHosts({ spec }: Ingress): string {
  const rules = spec?.rules ?? [];
  const named = rules.flatMap(({ host }, index) => (host ? [{ host, index }] : []));
  if (named.length === 0) return '*';
  const shown = named.slice(0, SHOWN);
  const text = shown.map(({ host }) => host).join(',');
  // Rules without a host count too, once so many hosts were shown.
  const isMore = shown.length === SHOWN && (shown.at(-1)?.index ?? 0) < rules.length - 1;
  return isMore ? `${text} + ${rules.length - SHOWN} more...` : text;
}

function ingressClassParameters({ spec }: IngressClass): string {
  const { parameters } = spec ?? {};
  if (!parameters) return NONE;
  return `${parameters.kind}${parameters.apiGroup ? `.${parameters.apiGroup}` : ''}/${parameters.name}`;
}

/** Headless services without ports have addresses alone. */
function hostPorts({ subsets }: Endpoints): string[] {
  return (subsets ?? []).flatMap(({ addresses, ports }) => {
    const ips = (addresses ?? []).map(({ ip }) => ip);
    if (!ports?.length) return ips;
    return ports.flatMap(({ port }) => ips.map((ip) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)));
  });
}

/** `services/default/web`: the object that the address was given to. */
function parentReference({ spec }: IPAddress): string {
  const parent = spec?.parentRef;
  if (!parent) return NONE;
  const resource = formatGroupResource({ group: parent.group ?? '', resource: parent.resource });
  return [resource.toLowerCase(), parent.namespace, parent.name].filter(Boolean).join('/');
}
