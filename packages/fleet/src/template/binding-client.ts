import { deepEqual, isNotFound, type KubeObject, type ResourceType } from '@asterism/machinery';
import type { Client } from '@asterism/client';
import type { Request } from '@asterism/runtime';
import {
  API_VERSION,
  CLUSTER_RESOURCE_BINDINGS,
  type ClusterResourceBinding,
  RESOURCE_BINDINGS,
  type ResourceBinding,
} from '../api/index.ts';
import { bindingName, digestedName } from './binding-name.ts';
import { ensureTemplateNamespace } from './ensure-template-namespace.ts';
import { templateKeyOf } from './template-key.ts';

/** A binding of either scope: of a namespaced template, or of one without a namespace. */
export type Binding = ResourceBinding | ClusterResourceBinding;

/** On a binding, until its Works are gone and with them what they made. */
export const WORKS_FINALIZER = 'asterism.dev/works';

/** The two kinds of bindings as one. */
export function bindingType(namespace: string | undefined): ResourceType<Binding> {
  return (namespace ? RESOURCE_BINDINGS : CLUSTER_RESOURCE_BINDINGS) as ResourceType<Binding>;
}

export interface BindingTraits {
  /**
   * Whether the template stands in the binding's own API server. It then owns the binding, which so goes with it. An owner that
   * stands elsewhere is unknown here, and garbage collection would remove the binding for that.
   */
  owned: boolean;
  /** Whether another template has a binding of that name. */
  isTaken: (name: string) => boolean;
}

/** The binding of a template. The finalizer keeps it until what it placed is gone as well. */
export function newBinding(template: KubeObject, spec: Binding['spec'], { owned, isTaken }: BindingTraits): Binding {
  const key = templateKeyOf(template);
  const plain = bindingName(key);
  return {
    apiVersion: API_VERSION,
    kind: key.namespace ? 'ResourceBinding' : 'ClusterResourceBinding',
    metadata: {
      name: isTaken(plain) ? digestedName(key) : plain,
      ...(key.namespace ? { namespace: key.namespace } : {}),
      ...(owned ? { ownerReferences: [ownerReference(template)] } : {}),
      finalizers: [WORKS_FINALIZER],
    },
    spec,
  } as Binding;
}

/** Creates a binding. Where its template stands elsewhere, the namespace may not be here yet: it is made. */
export async function createBinding(
  client: Client,
  binding: Binding,
  owned: boolean,
  signal: AbortSignal,
): Promise<void> {
  const { namespace } = binding.metadata;
  const bindings = client.resource(bindingType(namespace));
  try {
    await bindings.create(binding, { signal });
  } catch (error) {
    if (owned || !namespace || !isNotFound(error) || error.status.details?.kind !== 'namespaces') throw error;
    await ensureTemplateNamespace(client, namespace, signal);
    await bindings.create(binding, { signal });
  }
}

/**
 * Writes what differs in one patch: the spec, and the owner ({@link BindingTraits.owned}: undefined for none) where the template
 * was made anew or has moved.
 *
 * @returns false where all of it stands already
 */
export async function updateBinding(
  client: Client,
  binding: Binding,
  { spec, owner }: { spec: Binding['spec']; owner: KubeObject | undefined },
  signal: AbortSignal,
): Promise<boolean> {
  const owners = owner ? [ownerReference(owner)] : [];
  const sameSpec = deepEqual(binding.spec, spec);
  const sameOwners = deepEqual(binding.metadata.ownerReferences ?? [], owners);
  if (sameSpec && sameOwners) return false;
  const { name = '', namespace, uid } = binding.metadata;
  const body = [
    { op: 'test', path: '/metadata/uid', value: uid },
    ...(sameSpec ? [] : [{ op: 'add', path: '/spec', value: spec }]),
    ...(sameOwners ? [] : [{ op: 'add', path: '/metadata/ownerReferences', value: owners }]),
  ];
  await client.resource(bindingType(namespace)).patch({ namespace, name }, { type: 'json', body }, { signal });
  return true;
}

export async function deleteBinding(client: Client, { metadata }: Binding, signal: AbortSignal): Promise<void> {
  const { name = '', namespace, uid } = metadata;
  try {
    await client.resource(bindingType(namespace)).delete({ namespace, name }, { preconditions: { uid }, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function ownerReference({ apiVersion = '', kind = '', metadata }: KubeObject) {
  const { name = '', uid = '' } = metadata ?? {};
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** The request to reconcile a binding. */
export function bindingRequest({ metadata }: Binding): Request {
  return { cluster: '', namespace: metadata.namespace, name: metadata.name ?? '' };
}
