import { isIP, isIPv4 } from 'node:net';
import { HUB_SERVICE, PROXY_GROUP, SEARCH_GROUP, SYSTEM_NAMESPACE, VERSION } from '@asterism/fleet/api';
import type { APIService, Endpoints, Service } from '@asterism/machinery';

/** By which the aggregator calls whatever is behind {@link HUB_SERVICE}: its certificate has to bear it. */
export const HUB_SERVICE_HOST = `${HUB_SERVICE}.${SYSTEM_NAMESPACE}.svc`;

const AGGREGATED_GROUPS = [PROXY_GROUP, SEARCH_GROUP];

/** Where the host's aggregator reaches this process. */
export interface AggregationTarget {
  /** A DNS name or an IP address. */
  host: string;
  port: number;
  /** PEM. */
  ca: string;
}

export interface AggregatedObjects {
  service: Service;
  /** For an address that no name can stand for. */
  endpoints: Endpoints | undefined;
  apiServices: APIService[];
}

/**
 * What leads callers of the host to this process.
 *
 * The Service is of type ExternalName, also for an IPv4 address: the aggregator dials what stands there, by itself. A cluster IP
 * would need kube-proxy on the machine of the kube-apiserver, or `--enable-aggregator-routing`, and a control plane of its own
 * has neither. An IPv6 address cannot stand in a name and gets Endpoints. Loopback is `localhost`, as Endpoints may not hold
 * it.
 */
export function aggregatedObjects({ host, port, ca }: AggregationTarget): AggregatedObjects {
  const byAddress = isIP(host) === 6 && !isLoopback(host);
  return {
    service: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: SYSTEM_NAMESPACE, name: HUB_SERVICE },
      spec: byAddress
        ? {
            type: 'ClusterIP',
            ipFamilyPolicy: 'PreferDualStack',
            ports: [{ name: 'https', port, protocol: 'TCP', targetPort: port }],
          }
        : { type: 'ExternalName', externalName: isLoopback(host) ? 'localhost' : host },
    },
    endpoints: byAddress
      ? {
          apiVersion: 'v1',
          kind: 'Endpoints',
          metadata: { namespace: SYSTEM_NAMESPACE, name: HUB_SERVICE },
          subsets: [{ addresses: [{ ip: host }], ports: [{ name: 'https', port, protocol: 'TCP' }] }],
        }
      : undefined,
    apiServices: AGGREGATED_GROUPS.map((group) => ({
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `${VERSION}.${group}` },
      spec: {
        group,
        version: VERSION,
        groupPriorityMinimum: 1_000,
        versionPriority: 15,
        service: { namespace: SYSTEM_NAMESPACE, name: HUB_SERVICE, port },
        caBundle: Buffer.from(ca).toString('base64'),
        insecureSkipTLSVerify: undefined, // where somebody has set it, it goes
      },
    })),
  };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
