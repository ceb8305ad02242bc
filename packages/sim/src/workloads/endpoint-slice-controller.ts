import type { Client } from '@asterism/client';
import {
  deepEqual,
  ENDPOINT_SLICES,
  type EndpointSlice,
  isAlreadyExists,
  isNotFound,
  labelSelectorFromObject,
  matchesLabels,
  type Pod,
  PODS,
  type Service,
  SERVICES,
} from '@asterism/machinery';
import { createController, type Manager } from '@asterism/runtime';
import { controllerReference } from './owned.ts';
import { isReady } from './pod-state.ts';
import { stableSuffix } from './stable-suffix.ts';

/** Says behind each Service which pods answer for it, in one EndpointSlice. */
export function addEndpointSliceController(manager: Manager): void {
  const services = manager.local.cache.informer(SERVICES);
  manager.add(
    createController({
      name: 'endpointslice',
      concurrency: 2,
      async reconcile({ namespace, name }, { cluster }) {
        const service = cluster.cache.get(SERVICES, { namespace, name });
        if (service?.spec?.selector === undefined || service.metadata?.deletionTimestamp) return;
        const pods = cluster.cache
          .list(PODS, { namespace })
          .filter((pod) => pod.status?.podIP && selects(service, pod));
        await write(cluster.client, sliceOf(service, pods), cluster.cache.get(ENDPOINT_SLICES, sliceRef(service)));
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

function selects(service: Service, pod: Pod): boolean {
  const { selector } = service.spec ?? {};
  return (
    selector !== undefined &&
    matchesLabels(labelSelectorFromObject({ matchLabels: selector }), pod.metadata?.labels ?? {})
  );
}

function sliceRef({ metadata }: Service): { namespace: string | undefined; name: string } {
  return { namespace: metadata?.namespace, name: `${metadata?.name}-${stableSuffix(metadata?.uid ?? '', 5)}` };
}

function sliceOf(service: Service, pods: readonly Pod[]): EndpointSlice {
  const { namespace = '', name } = sliceRef(service);
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name,
      namespace,
      labels: {
        'kubernetes.io/service-name': service.metadata?.name ?? '',
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
      ownerReferences: [controllerReference(service)],
    },
    addressType: 'IPv4',
    endpoints: pods.map(endpointOf).sort((a, b) => (a.addresses[0] ?? '').localeCompare(b.addresses[0] ?? '')),
    ports: (service.spec?.ports ?? []).map(({ name: port, port: number, targetPort, protocol }) => ({
      name: port ?? '',
      port: typeof targetPort === 'number' ? targetPort : number,
      protocol: protocol ?? 'TCP',
    })),
  };
}

function endpointOf(pod: Pod) {
  const terminating = pod.metadata?.deletionTimestamp !== undefined;
  const ready = isReady(pod) && !terminating;
  return {
    addresses: [pod.status?.podIP ?? ''],
    conditions: { ready, serving: isReady(pod), terminating },
    nodeName: pod.spec?.nodeName ?? '',
    targetRef: {
      kind: 'Pod',
      name: pod.metadata?.name ?? '',
      namespace: pod.metadata?.namespace ?? '',
      uid: pod.metadata?.uid ?? '',
    },
  };
}

async function write(client: Client, wanted: EndpointSlice, existing: EndpointSlice | undefined): Promise<void> {
  const slices = client.resource(ENDPOINT_SLICES);
  try {
    if (existing === undefined) {
      await slices.create(wanted);
    } else if (!deepEqual([existing.endpoints, existing.ports], [wanted.endpoints, wanted.ports])) {
      await slices.update({
        ...existing,
        endpoints: wanted.endpoints,
        ...(wanted.ports ? { ports: wanted.ports } : {}),
      });
    }
  } catch (error) {
    // Made a moment ago, or gone with its Service: the cache will tell.
    if (!isAlreadyExists(error) && !isNotFound(error)) throw error;
  }
}
