import {
  type Endpoint,
  type Endpoints,
  type EndpointSlice,
  labelSelectorFromObject,
  matchesLabels,
  type Node,
  type Pod,
  type Service,
} from '@asterism/machinery';
import { controllerReference } from './owned.ts';
import { isReady } from './pod-state.ts';
import { stableSuffix } from './stable-suffix.ts';

export const SLICES_OF = 'kubernetes.io/service-name';
export const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
export const SLICE_MANAGER = 'endpointslice-controller.k8s.io';
export const ENDPOINTS_MANAGED_BY = 'endpoints.kubernetes.io/managed-by';
const HEADLESS = 'service.kubernetes.io/headless';
const ZONE = 'topology.kubernetes.io/zone';
const MOST_IN_SLICE = 100;
const MOST_IN_ENDPOINTS = 1000;

interface Port {
  name: string;
  port: number;
  protocol: 'TCP' | 'UDP' | 'SCTP';
  appProtocol?: string;
}

/** Pods whose named ports lead to the same numbers. */
interface Group {
  ports: Port[];
  pods: Pod[];
}

export function selects({ spec }: Service, pod: Pod): boolean {
  const { selector } = spec ?? {};
  return (
    selector !== undefined &&
    matchesLabels(labelSelectorFromObject({ matchLabels: selector }), pod.metadata?.labels ?? {})
  );
}

/** Whether a Service has endpoints that follow from pods: it has a selector, and is more than a name. */
export function followsPods({ spec, metadata }: Service): boolean {
  return spec?.selector !== undefined && spec.type !== 'ExternalName' && metadata?.deletionTimestamp === undefined;
}

/**
 * The EndpointSlices of a Service: every pod that it selects, has an address and has not ended, with `ready`, `serving` and
 * `terminating` as they are. At most 100 endpoints in one; pods whose named ports differ are in different ones.
 */
export function endpointSlicesOf(
  service: Service,
  pods: readonly Pod[],
  nodeNamed: (name: string) => Node | undefined,
): EndpointSlice[] {
  const groups = groupsOf(service, pods);
  return groups.flatMap(({ ports, pods: members }) => {
    const key = JSON.stringify(ports.map(({ name, port, protocol }) => [name, port, protocol]));
    const count = Math.max(1, Math.ceil(members.length / MOST_IN_SLICE));
    return Array.from({ length: count }, (_, chunk) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: `${service.metadata?.name}-${stableSuffix(`${service.metadata?.uid}/${key}/${chunk}`, 5)}`,
        namespace: service.metadata?.namespace ?? '',
        generateName: `${service.metadata?.name}-`,
        labels: { ...labelsOf(service), [SLICES_OF]: service.metadata?.name ?? '', [MANAGED_BY]: SLICE_MANAGER },
        ownerReferences: [controllerReference(service)],
      },
      addressType: 'IPv4' as const,
      endpoints: members
        .slice(chunk * MOST_IN_SLICE, (chunk + 1) * MOST_IN_SLICE)
        .map((pod) => endpointOf(service, pod, nodeNamed(pod.spec?.nodeName ?? ''))),
      ports,
    }));
  });
}

/** The older form of the same: without pods on their way out, unless the Service publishes what is not ready. */
export function endpointsOf(service: Service, pods: readonly Pod[]): Endpoints {
  const publishes = service.spec?.publishNotReadyAddresses === true;
  const staying = pods.filter(({ metadata }) => publishes || metadata?.deletionTimestamp === undefined);
  const groups = groupsOf(service, staying).filter((group) => group.pods.length > 0);
  const addresses = (group: readonly Pod[]) =>
    group.slice(0, MOST_IN_ENDPOINTS).map((pod) => ({
      ip: pod.status?.podIP ?? '',
      ...hostnameOf(service, pod),
      ...(pod.spec?.nodeName ? { nodeName: pod.spec.nodeName } : {}),
      targetRef: referenceTo(pod),
    }));
  const subsets = groups.map((group) => {
    const ready = group.pods.filter((pod) => publishes || isReady(pod));
    const waiting = group.pods.filter((pod) => !ready.includes(pod));
    return {
      ...(ready.length > 0 ? { addresses: addresses(ready) } : {}),
      ...(waiting.length > 0 ? { notReadyAddresses: addresses(waiting) } : {}),
      ...(group.ports.length > 0
        ? { ports: group.ports.map(({ name, ...port }) => (name === '' ? port : { name, ...port })) }
        : {}),
    };
  });
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      name: service.metadata?.name ?? '',
      namespace: service.metadata?.namespace ?? '',
      labels: {
        ...labelsOf(service),
        [ENDPOINTS_MANAGED_BY]: 'endpoint-controller',
        'endpointslice.kubernetes.io/skip-mirror': 'true',
      },
    },
    ...(subsets.length > 0 ? { subsets } : {}),
  };
}

function labelsOf({ metadata, spec }: Service): Record<string, string> {
  return { ...metadata?.labels, ...(spec?.clusterIP === 'None' ? { [HEADLESS]: '' } : {}) };
}

/** At least one group, so that a Service without pods has an empty slice. */
function groupsOf(service: Service, pods: readonly Pod[]): Group[] {
  const standing = pods
    .filter(({ status }) => status?.podIP && status.phase !== 'Succeeded' && status.phase !== 'Failed')
    .toSorted((a, b) => (a.status?.podIP ?? '').localeCompare(b.status?.podIP ?? ''));
  const groups = new Map<string, Group>();
  for (const pod of standing) {
    const ports = portsOf(service, pod);
    const key = JSON.stringify(ports);
    const group = groups.get(key) ?? { ports, pods: [] };
    group.pods.push(pod);
    groups.set(key, group);
  }
  return groups.size > 0 ? [...groups.values()] : [{ ports: portsOf(service, undefined), pods: [] }];
}

/** A named target port is the number that the pod gives to the name; left out where it has none of that name. */
function portsOf({ spec }: Service, pod: Pod | undefined): Port[] {
  return (spec?.ports ?? []).flatMap(({ name = '', port, targetPort, protocol = 'TCP', appProtocol }) => {
    const number = typeof targetPort === 'string' ? namedPort(pod, targetPort, protocol) : targetPort || port;
    return number === undefined ? [] : [{ name, port: number, protocol, ...(appProtocol ? { appProtocol } : {}) }];
  });
}

function namedPort(pod: Pod | undefined, wanted: string, protocol: string): number | undefined {
  const ports = (pod?.spec?.containers ?? []).flatMap((container) => container.ports ?? []);
  return ports.find(({ name, protocol: own = 'TCP' }) => name === wanted && own === protocol)?.containerPort;
}

function endpointOf(service: Service, pod: Pod, node: Node | undefined): Endpoint {
  const terminating = pod.metadata?.deletionTimestamp !== undefined;
  const serving = isReady(pod);
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating);
  const zone = node?.metadata?.labels?.[ZONE];
  return {
    addresses: [pod.status?.podIP ?? ''],
    conditions: { ready, serving, terminating },
    ...hostnameOf(service, pod),
    ...(pod.spec?.nodeName ? { nodeName: pod.spec.nodeName } : {}),
    ...(zone === undefined ? {} : { zone }),
    targetRef: referenceTo(pod),
  };
}

/** A pod is found by its name where it says that this Service is its subdomain. */
function hostnameOf(service: Service, { spec }: Pod): { hostname?: string } {
  return spec?.hostname && spec.subdomain === service.metadata?.name ? { hostname: spec.hostname } : {};
}

function referenceTo({ metadata }: Pod): NonNullable<Endpoint['targetRef']> {
  const { name = '', namespace = '', uid = '' } = metadata ?? {};
  return { kind: 'Pod', name, namespace, uid };
}
