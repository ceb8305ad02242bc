import { isIP } from 'node:net';
import {
  HUB_REPLICAS_SERVICE,
  HUB_SERVICE,
  PROXY_GROUP,
  SEARCH_GROUP,
  SYSTEM_NAMESPACE,
  VERSION,
} from '@asterism/fleet/api';
import type { APIService, Endpoints, Service } from '@asterism/machinery';
import { isLoopback } from './serving-address.ts';

/** By which the aggregator calls whatever is behind {@link HUB_SERVICE}: its certificate has to bear it. */
export const HUB_SERVICE_HOSTS = [HUB_SERVICE, HUB_REPLICAS_SERVICE].map((name) => `${name}.${SYSTEM_NAMESPACE}.svc`);

/** Where the host's aggregator reaches this process. */
export interface AggregationTarget {
  /** A DNS name or an IP address. */
  host: string;
  port: number;
  /** PEM. */
  ca: string;
}

export interface AggregatedObjects {
  services: Service[];
  /** For addresses that no name can stand for. */
  endpoints: Endpoints[];
  apiServices: APIService[];
}

/**
 * What leads callers of the host to the leader, and for the ways into the members to all of `replicas`, where these are given:
 * each of them reaches every member, but search is the leader's.
 *
 * A single leader is found by a Service of type ExternalName, also for an IPv4 address: the aggregator dials what stands there, by
 * itself. A cluster IP would need kube-proxy on the machine of the kube-apiserver, or `--enable-aggregator-routing`, and a control
 * plane of its own has neither. An IPv6 address cannot stand in a name and gets Endpoints. Loopback is `localhost`, as Endpoints may
 * not hold it. Who has replicas has one of the two, and with `--enable-aggregator-routing` there are no ExternalNames.
 */
export function aggregatedObjects(
  leader: AggregationTarget,
  replicas?: readonly AggregationTarget[],
): AggregatedObjects {
  const toLeader = { name: HUB_SERVICE, port: leader.port, ca: leader.ca };
  if (replicas) {
    const toAll = { name: HUB_REPLICAS_SERVICE, port: REPLICAS_PORT, ca: replicas.map(({ ca }) => ca).join('') };
    const [one, all] = [
      byEndpoints(HUB_SERVICE, leader.port, [leader]),
      byEndpoints(toAll.name, REPLICAS_PORT, replicas),
    ];
    return {
      services: [one.service, all.service],
      endpoints: [one.endpoints, all.endpoints],
      apiServices: [apiService(PROXY_GROUP, toAll), apiService(SEARCH_GROUP, toLeader)],
    };
  }
  const apiServices = [apiService(PROXY_GROUP, toLeader), apiService(SEARCH_GROUP, toLeader)];
  if (isIP(leader.host) !== 6 || isLoopback(leader.host)) {
    return { services: [byName(leader)], endpoints: [], apiServices };
  }
  const { service, endpoints } = byEndpoints(HUB_SERVICE, leader.port, [leader]);
  return { services: [service], endpoints: [endpoints], apiServices };
}

/** Of the Service over all replicas, each of which may listen at another. */
const REPLICAS_PORT = 443;

function byName({ host }: AggregationTarget): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: SYSTEM_NAMESPACE, name: HUB_SERVICE },
    spec: { type: 'ExternalName', externalName: isLoopback(host) ? 'localhost' : host },
  };
}

/** A Service without a selector, and who stands behind it. */
function byEndpoints(
  name: string,
  port: number,
  targets: readonly AggregationTarget[],
): { service: Service; endpoints: Endpoints } {
  const metadata = { namespace: SYSTEM_NAMESPACE, name };
  const sorted = [...targets].sort((a, b) => `${a.host} ${a.port}`.localeCompare(`${b.host} ${b.port}`));
  return {
    service: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: {
        type: 'ClusterIP',
        ipFamilyPolicy: 'PreferDualStack',
        ports: [{ name: 'https', port, protocol: 'TCP', targetPort: 'https' }],
      },
    },
    endpoints: {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata,
      subsets: sorted.map((target) => ({
        addresses: [{ ip: target.host }],
        ports: [{ name: 'https', port: target.port, protocol: 'TCP' }],
      })),
    },
  };
}

function apiService(group: string, { name, port, ca }: { name: string; port: number; ca: string }): APIService {
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `${VERSION}.${group}` },
    spec: {
      group,
      version: VERSION,
      groupPriorityMinimum: 1_000,
      versionPriority: 15,
      service: { namespace: SYSTEM_NAMESPACE, name, port },
      caBundle: Buffer.from(ca).toString('base64'),
      insecureSkipTLSVerify: undefined, // where somebody has set it, it goes
    },
  };
}
