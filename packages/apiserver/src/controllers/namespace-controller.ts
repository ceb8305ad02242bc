import { isConflict, isNotFound, type KubeObject, NAMESPACES } from '@asterism/machinery';
import { requireResource } from '../registry/require-resource.ts';
import { type Controller, type ControllerOptions, deletableResources, writeContext } from './controller-options.ts';
import { KeyedWork } from './keyed-work.ts';
import type { ServedResource } from '../contract/served-resource.ts';

interface Namespace extends KubeObject {
  spec?: { finalizers?: string[] };
}

/** The finalizer of the contents. */
const CONTENTS = 'kubernetes';

/**
 * Empties namespaces that are being deleted, and then lets them go.
 *
 * N1. The contents go first: the finalizer `kubernetes` is taken off only when nothing is left in the namespace.
 * N2. Objects with finalizers or a grace period are waited for, not forced; each that goes is a reason to look again.
 * N3. Everything follows from what is stored: a restart goes on where it was.
 */
export function startNamespaceController(options: ControllerOptions): Controller {
  const { registry, signal, onError } = options;
  const namespaces = requireResource(registry, NAMESPACES);
  const terminating = new Set<string>();
  const work = new KeyedWork({
    work: (name) => finalize(options, namespaces, name),
    onError: (name, error) => onError(`namespace ${name}`, error),
    signal,
  });
  const look = (name: string, object: KubeObject): void => {
    if (!object.metadata?.deletionTimestamp) return;
    terminating.add(name);
    work.add(name);
  };
  const stop = registry.observe(({ resource, type, namespace, name, stored }) => {
    if (resource === namespaces) {
      if (type === 'delete') terminating.delete(name);
      else look(name, stored.parse());
    } else if (type === 'delete' && namespace !== undefined && terminating.has(namespace)) work.add(namespace);
  });
  signal.addEventListener('abort', stop, { once: true });
  const begin = registry
    .list(namespaces)
    .then(({ items }) => {
      for (const item of items) {
        const object = item.parse();
        look(object.metadata?.name ?? '', object);
      }
    })
    .catch((error: unknown) => onError('the namespaces that are stored', error));
  return {
    settled: async () => {
      await begin;
      await work.settled();
    },
  };
}

async function finalize(options: ControllerOptions, namespaces: ServedResource, name: string): Promise<void> {
  const { registry } = options;
  const found = await registry.get(namespaces, { name }).catch(absent);
  const namespace = found?.parse() as Namespace | undefined;
  if (!namespace?.metadata?.deletionTimestamp || !namespace.spec?.finalizers?.includes(CONTENTS)) return;
  // What passed the check of its namespace before the mark may be on its way still.
  await registry.settled();
  if ((await deleteContents(options, name)) > 0) return;
  const finalizers = namespace.spec.finalizers.filter((each) => each !== CONTENTS);
  const body = { ...namespace, spec: { ...namespace.spec, finalizers } };
  const context = { ...writeContext(options), subresource: 'finalize' };
  await registry.update(namespaces, { name }, body, context).catch((error: unknown) => {
    // Somebody changed it meanwhile: its own event brings it back here.
    if (!isConflict(error) && !isNotFound(error)) throw error;
  });
}

/** Asks all that is in the namespace to go; resolves with how many are still there. */
async function deleteContents(options: ControllerOptions, namespace: string): Promise<number> {
  const { registry } = options;
  let remaining = 0;
  for (const resource of deletableResources(registry)) {
    if (!resource.type.namespaced) continue;
    const { items } = await registry.list(resource, { namespace });
    const going = items.map(async (item) => {
      const { name = '', deletionTimestamp } = item.parse().metadata ?? {};
      if (deletionTimestamp) return false;
      const deleted = await registry
        .delete(resource, { namespace, name }, { propagationPolicy: 'Background' }, writeContext(options, namespace))
        .catch(absent);
      return deleted?.finalized !== false;
    });
    remaining += (await Promise.all(going)).filter((gone) => !gone).length;
  }
  return remaining;
}

function absent(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
