import { isIP } from 'node:net';
import {
  deepEqual,
  ENDPOINT_SLICES,
  ENDPOINTS,
  formatApiVersion,
  isAlreadyExists,
  isNotFound,
  isStatusError,
  type KubeObject,
  type ResourceType,
  SERVICES,
} from '@asterism/machinery';
import type { Controller, ControllerOptions } from '../controllers/controller-options.ts';
import { KeyedWork } from '../controllers/keyed-work.ts';
import { unlessChanged } from '../controllers/unless-changed.ts';
import { discardingDamaged } from '../registry/discard-damaged.ts';
import { requireResource } from '../registry/require-resource.ts';

export interface KubernetesServiceOptions extends ControllerOptions {
  /** The first address of the range, which this Service has before all others. */
  clusterIp: string;
}

/** Where the server is. */
export interface AdvertisedEndpoint {
  address: string;
  port: number;
}

export interface KubernetesService extends Controller {
  /** Creates the Service where it is missing. */
  ensure(): Promise<void>;
  /** From now on the server is there. */
  advertise(endpoint: AdvertisedEndpoint): void;
}

const NAMESPACE = 'default';
const NAME = 'kubernetes';
const MANAGER = 'kube-apiserver';
const PORT = { name: 'https', protocol: 'TCP' };
/** What the Service leads to where nobody has said better. */
const USUAL_PORT = 6443;

/**
 * Keeps the Service `kubernetes` of the namespace `default`, by which workloads find their API server, and its endpoint: whoever
 * deletes or changes them, and wherever the server listens when it starts again. Without {@link KubernetesService.advertise}
 * endpoints are left to others.
 */
export function createKubernetesService(options: KubernetesServiceOptions): KubernetesService {
  const { registry, signal, onError } = options;
  const kept = [SERVICES, ENDPOINTS, ENDPOINT_SLICES].map((type) => requireResource(registry, type));
  let endpoint: AdvertisedEndpoint | undefined;
  const ensure = async (): Promise<void> => {
    // A Service that took the first address before there was this one keeps it.
    await ensureObject(options, SERVICES, serviceAt(options.clusterIp)).catch(async (error: unknown) => {
      if (!isStatusError(error, 'Invalid')) throw error;
      await ensureObject(options, SERVICES, serviceAt(undefined));
    });
  };
  const work = new KeyedWork({
    async work() {
      await ensure();
      if (endpoint === undefined) return;
      await ensureObject(options, ENDPOINTS, endpointsAt(endpoint), 'subsets');
      await ensureObject(options, ENDPOINT_SLICES, sliceAt(endpoint), 'endpoints', 'ports', 'addressType');
    },
    onError: (key, error) => onError(key, error),
    signal,
  });
  const key = `service ${NAMESPACE}/${NAME}`;
  const stop = registry.observe(({ resource, namespace, name }) => {
    if (name === NAME && namespace === NAMESPACE && kept.includes(resource)) work.add(key);
  });
  signal.addEventListener('abort', stop, { once: true });
  return {
    ensure,
    advertise(at) {
      endpoint = at;
      work.add(key);
    },
    settled: () => work.settled(),
  };
}

/** Creates the object, or writes those of its fields that are not as they should be. */
async function ensureObject(
  options: ControllerOptions,
  type: ResourceType,
  wanted: KubeObject,
  ...fields: string[]
): Promise<void> {
  const { registry, user } = options;
  const ref = { namespace: NAMESPACE, name: NAME };
  await discardingDamaged(registry, type, { ref, user }, () => writeObject(options, type, wanted, fields));
}

async function writeObject(
  { registry, user }: ControllerOptions,
  type: ResourceType,
  wanted: KubeObject,
  fields: readonly string[],
): Promise<void> {
  const resource = requireResource(registry, type);
  const ref = { namespace: NAMESPACE, name: NAME };
  const found = await registry.get(resource, ref).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    return undefined;
  });
  const context = { user, ...ref, fieldManager: MANAGER };
  if (found === undefined) {
    const whole = { apiVersion: formatApiVersion(type), kind: type.kind, ...wanted };
    await registry.create(resource, whole, { ...context, name: undefined }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
    return;
  }
  const object = found.parse();
  const wrong = fields.filter((field) => !deepEqual(object[field], wanted[field]));
  const { labels } = wanted.metadata ?? {};
  const unlabelled = Object.entries(labels ?? {}).some(([label, value]) => object.metadata?.labels?.[label] !== value);
  if (wrong.length === 0 && !(unlabelled && fields.length > 0)) return;
  const right = Object.fromEntries(fields.map((field) => [field, wanted[field]]));
  const metadata = { ...object.metadata, labels: { ...object.metadata?.labels, ...labels } };
  await unlessChanged(() => registry.update(resource, ref, { ...object, ...right, metadata }, context));
}

function serviceAt(clusterIP: string | undefined): KubeObject {
  return {
    metadata: { name: NAME, namespace: NAMESPACE, labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: {
      ports: [{ ...PORT, port: 443, targetPort: USUAL_PORT }],
      type: 'ClusterIP',
      ...(clusterIP && { clusterIP }),
    },
  };
}

function endpointsAt({ address, port }: AdvertisedEndpoint): KubeObject {
  const labels = { 'endpointslice.kubernetes.io/skip-mirror': 'true' };
  return {
    metadata: { name: NAME, namespace: NAMESPACE, labels },
    subsets: [{ addresses: [{ ip: address }], ports: [{ name: PORT.name, port, protocol: PORT.protocol }] }],
  };
}

function sliceAt({ address, port }: AdvertisedEndpoint): KubeObject {
  return {
    metadata: { name: NAME, namespace: NAMESPACE, labels: { 'kubernetes.io/service-name': NAME } },
    addressType: isIP(address) === 6 ? 'IPv6' : 'IPv4',
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ ...PORT, port }],
  };
}
