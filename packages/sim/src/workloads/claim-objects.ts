import type { Client } from '@asterism/client';
import {
  isConflict,
  isNotFound,
  type KubeObject,
  type LabelSelector,
  labelSelectorFromObject,
  matchesLabels,
  type OwnerReference,
  type ResourceType,
} from '@asterism/machinery';
import type { Store } from '@asterism/runtime';
import { BY_CONTROLLER, controllerReference, orphansOf } from './owned.ts';

export interface Claim<T extends KubeObject> {
  client: Client;
  type: ResourceType<T>;
  owner: KubeObject;
  selector: LabelSelector | undefined;
  /** Has the index {@link BY_CONTROLLER}. */
  store: Store<T>;
  /** Whether an object that nobody controls may be taken; all may, unless it says otherwise. */
  mayAdopt?: (object: T) => boolean;
}

/**
 * What an owner controls and selects. One whose labels it does not select any more is released; one that nobody controls and
 * that it selects is adopted, and counts from when the cache shows that.
 */
export async function claimObjects<T extends KubeObject>(claim: Claim<T>): Promise<T[]> {
  const { owner, selector, store, mayAdopt = () => true } = claim;
  const { uid = '', namespace = '' } = owner.metadata ?? {};
  const requirements = labelSelectorFromObject(selector ?? {});
  const isSelected = ({ metadata }: T): boolean => matchesLabels(requirements, metadata?.labels);
  const isStaying = ({ metadata }: T): boolean => metadata?.deletionTimestamp === undefined;
  const owned = store.byIndex(BY_CONTROLLER, uid);
  for (const stray of owned.filter((object) => !isSelected(object) && isStaying(object))) {
    const references = stray.metadata?.ownerReferences ?? [];
    await writeOwners(
      claim,
      stray,
      references.filter((reference) => reference.uid !== uid),
    );
  }
  const orphans = store.byIndex(BY_CONTROLLER, orphansOf(namespace));
  for (const orphan of orphans.filter((object) => isSelected(object) && isStaying(object) && mayAdopt(object))) {
    await writeOwners(claim, orphan, [...(orphan.metadata?.ownerReferences ?? []), controllerReference(owner)]);
  }
  return owned.filter(isSelected);
}

async function writeOwners<T extends KubeObject>(
  { client, type }: Claim<T>,
  { metadata }: T,
  ownerReferences: readonly OwnerReference[],
): Promise<void> {
  const { namespace, name = '', uid, resourceVersion } = metadata ?? {};
  const body = { metadata: { uid, resourceVersion, ownerReferences } };
  try {
    await client.resource(type).patch({ namespace, name }, { type: 'merge', body });
  } catch (error) {
    // Gone, or changed meanwhile: the cache will tell.
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
