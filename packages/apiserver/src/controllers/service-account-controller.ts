import {
  CONFIG_MAPS,
  isAlreadyExists,
  isNotFound,
  isStatusError,
  type KubeObject,
  NAMESPACES,
  SERVICE_ACCOUNTS,
} from '@asterism/machinery';
import { requireResource } from '../registry/require-resource.ts';
import { type Controller, type ControllerOptions, writeContext } from './controller-options.ts';
import { KeyedWork } from './keyed-work.ts';
import type { ServedResource } from '../contract/served-resource.ts';

export interface ServiceAccountControllerOptions extends ControllerOptions {
  /** PEM of the certificate that clients in a namespace should trust; without it no ConfigMap is published. */
  rootCa?: string | undefined;
}

const ACCOUNT = 'default';
const ROOT_CA = 'kube-root-ca.crt';
const DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

/** Keeps in every living namespace the ServiceAccount `default` and the ConfigMap `kube-root-ca.crt`. */
export function startServiceAccountController(options: ServiceAccountControllerOptions): Controller {
  const { registry, signal, onError } = options;
  const namespaces = requireResource(registry, NAMESPACES);
  const accounts = requireResource(registry, SERVICE_ACCOUNTS);
  const configMaps = requireResource(registry, CONFIG_MAPS);
  const work = new KeyedWork({
    async work(namespace) {
      const found = await registry.get(namespaces, { name: namespace }).catch(absent);
      if (!found || found.parse().metadata?.deletionTimestamp) return;
      await ensure(options, accounts, namespace, { metadata: { name: ACCOUNT } });
      if (options.rootCa) await ensureRootCa(options, configMaps, namespace, options.rootCa);
    },
    onError: (namespace, error) => onError(`default service account of namespace ${namespace}`, error),
    signal,
  });
  const stop = registry.observe(({ resource, type, namespace, name }) => {
    if (resource === namespaces && type === 'put') work.add(name);
    else if (namespace === undefined) return;
    else if (resource === accounts && name === ACCOUNT && type === 'delete') work.add(namespace);
    else if (resource === configMaps && name === ROOT_CA) work.add(namespace);
  });
  signal.addEventListener('abort', stop, { once: true });
  const begin = registry
    .list(namespaces)
    .then(({ items }) => {
      for (const item of items) work.add(item.parse().metadata?.name ?? '');
    })
    .catch((error: unknown) => onError('default service accounts of the namespaces that are stored', error));
  return {
    settled: async () => {
      await begin;
      await work.settled();
    },
  };
}

async function ensureRootCa(
  options: ControllerOptions,
  configMaps: ServedResource,
  namespace: string,
  rootCa: string,
): Promise<void> {
  const data = { 'ca.crt': rootCa };
  const found = await options.registry.get(configMaps, { namespace, name: ROOT_CA }).catch(absent);
  if (!found) {
    const metadata = { name: ROOT_CA, annotations: { 'kubernetes.io/description': DESCRIPTION } };
    await ensure(options, configMaps, namespace, { metadata, data });
    return;
  }
  if ((found.parse().data as Record<string, string> | undefined)?.['ca.crt'] === rootCa) return;
  const patch = { type: 'merge' as const, body: { data } };
  await options.registry
    .patch(configMaps, { namespace, name: ROOT_CA }, patch, writeContext(options, namespace))
    .catch(absent);
}

/** Creates what is missing; a namespace that goes meanwhile needs it no more. */
async function ensure(
  options: ControllerOptions,
  resource: ServedResource,
  namespace: string,
  object: KubeObject,
): Promise<void> {
  const name = object.metadata?.name ?? '';
  if (await options.registry.get(resource, { namespace, name }).catch(absent)) return;
  await options.registry.create(resource, object, writeContext(options, namespace)).catch((error: unknown) => {
    if (!isAlreadyExists(error) && !isNotFound(error) && !isStatusError(error, 'Forbidden')) throw error;
  });
}

function absent(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
