import {
  handOverFields,
  isConflict,
  type KubeObject,
  type ManagedFieldsEntry,
  type ResourceType,
} from '@asterism/machinery';
import type { Cluster } from '@asterism/runtime';
import { ADOPTED_ANNOTATION, FIELD_MANAGER } from '../../api/index.ts';
import { manifestRefOf } from '../works/manifest-ref.ts';
import { readObject } from './member-objects.ts';

/**
 * Who writes objects as a whole: what these have made goes over to us with the object, so that a field that the template does not have, or
 * loses later, goes from the member too. Who changes single fields (`kubectl set`, an autoscaler, a webhook's own controller) keeps them.
 */
const WHOLE_OBJECT_MANAGERS: ReadonlySet<string> = new Set([
  'aster',
  'helm',
  'kubectl',
  'kubectl-autoscale',
  'kubectl-client-side-apply',
  'kubectl-create',
  'kubectl-expose',
  'kubectl-replace',
  'kubectl-run',
]);

const writesWholeObjects = ({ manager = '' }: ManagedFieldsEntry): boolean => WHOLE_OBJECT_MANAGERS.has(manager);

/**
 * Makes an object that others made ready to be applied by us. Nothing but who owns its fields is changed, so nothing that runs by it is
 * started anew. A Namespace is marked: it is somebody's who was there before, and never deleted with all that is in it.
 */
export async function takeOver(
  cluster: Cluster,
  type: ResourceType,
  object: KubeObject,
  signal: AbortSignal,
): Promise<void> {
  for (let live: KubeObject | undefined = object; live; ) {
    const metadata = changesOf(live);
    if (!metadata) return;
    const { name = '', namespace, resourceVersion, uid } = live.metadata ?? {};
    const body = { metadata: { uid, resourceVersion, ...metadata } };
    try {
      const options = { fieldManager: FIELD_MANAGER, signal };
      await cluster.client.resource(type).patch({ namespace, name }, { type: 'merge', body }, options);
      return;
    } catch (error) {
      if (!isConflict(error)) throw error;
      live = await readObject(cluster, type, manifestRefOf(live), signal);
    }
  }
}

function changesOf({ apiVersion = '', kind, metadata = {} }: KubeObject): object | undefined {
  const managedFields = handOverFields(metadata.managedFields ?? [], {
    from: writesWholeObjects,
    to: FIELD_MANAGER,
    apiVersion,
  });
  const marks = apiVersion === 'v1' && kind === 'Namespace' && !metadata.annotations?.[ADOPTED_ANNOTATION];
  if (!managedFields && !marks) return undefined;
  return {
    ...(managedFields ? { managedFields } : {}),
    ...(marks ? { annotations: { [ADOPTED_ANNOTATION]: 'true' } } : {}),
  };
}
