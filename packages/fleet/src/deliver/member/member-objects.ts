import {
  deepEqual,
  ifFound,
  isAlreadyExists,
  isConflict,
  isNotFound,
  isStatusError,
  type KubeObject,
  NAMESPACES,
  type ResourceType,
} from '@asterism/machinery';
import type { Cluster } from '@asterism/runtime';
import { ADOPTED_ANNOTATION, FIELD_MANAGER, MANAGED_LABEL } from '../../api/index.ts';
import type { ManifestRef } from '../works/manifest-ref.ts';
import { podSecurityLabels } from '../render/pod-security-labels.ts';
import { type AppliedManifest, applyDeclared } from './undeclared-fields.ts';

/** The label's value on a Namespace that was made because something had to stand in it. It is never deleted. */
const MADE_FOR_CONTENT = 'auto';

/** The object as it stands in the member, managed or not. */
export async function readObject(
  { client }: Pick<Cluster, 'client'>,
  type: ResourceType,
  { namespace, name }: ManifestRef,
  signal: AbortSignal | undefined,
): Promise<KubeObject | undefined> {
  return client
    .resource(type)
    .get({ namespace: type.namespaced ? namespace : undefined, name }, { signal })
    .catch((error) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
}

/** How an object is made ours. */
export interface Marking {
  /** Of the Work that the object is for. */
  label: string;
  /** What makes a Namespace of its own in this cluster, if anything does. It is then made as that says, not bare. */
  namespaceSource: (name: string) => { manifest: KubeObject; label: string } | undefined;
  /** Labels of a Namespace that is made bare. */
  namespaceLabels?: Readonly<Record<string, string>> | undefined;
}

/**
 * Applies the manifest and marks the object as ours. A Namespace that is not there is made before. Fields that the member's API
 * does not know are left out, as they would be of anything that is created there, and told.
 */
export async function applyManifest(
  cluster: Cluster,
  type: ResourceType,
  manifest: KubeObject,
  marking: Marking,
  signal: AbortSignal,
): Promise<AppliedManifest> {
  const marked = labelled(manifest, marking.label);
  await keepNamespaceLabels(cluster, manifest.metadata?.namespace, marking.namespaceLabels, signal);
  return applyDeclared(marked, (known) => applyInNamespace(cluster, type, known, { ...marking, signal }));
}

/** Of no object: an apply that names it makes what is not there, and is refused where something is. */
const NO_VERSION = String(Number.MAX_SAFE_INTEGER);

/**
 * As `applyManifest`, of what nobody has seen in the member: one request, with which nobody is overwritten who was quicker. Undefined
 * where something of that name is there after all, or where it is refused for whatever reason: then it takes a look at what is there.
 */
export async function applyNew(
  cluster: Cluster,
  type: ResourceType,
  manifest: KubeObject,
  marking: Marking,
  signal: AbortSignal,
): Promise<AppliedManifest | undefined> {
  const unseen = { ...manifest, metadata: { ...manifest.metadata, resourceVersion: NO_VERSION } };
  try {
    return await applyManifest(cluster, type, unseen, marking, signal);
  } catch (error) {
    if (isStatusError(error)) return undefined;
    throw error;
  }
}

async function applyInNamespace(
  cluster: Cluster,
  type: ResourceType,
  manifest: KubeObject,
  { namespaceSource, namespaceLabels, signal }: Marking & { signal: AbortSignal },
): Promise<KubeObject> {
  const apply = () =>
    cluster.client.resource(type).apply(manifest, { fieldManager: FIELD_MANAGER, force: true, signal });
  try {
    return await apply();
  } catch (error) {
    const { namespace } = manifest.metadata ?? {};
    if (!namespace || !isNotFound(error) || error.status.details?.kind !== 'namespaces') throw error;
    const source = namespaceSource(namespace);
    // Admission of what comes next may go by the labels of the Namespace.
    if (source) await applyManifest(cluster, NAMESPACES, source.manifest, { ...source, namespaceSource }, signal);
    else await makeNamespace(cluster, { name: namespace, labels: namespaceLabels }, signal);
    return apply();
  }
}

/** The manifest with the mark by which its object is ours. */
export function labelled(manifest: KubeObject, label: string): KubeObject {
  const labels = { ...manifest.metadata?.labels, [MANAGED_LABEL]: label };
  return { ...manifest, metadata: { ...manifest.metadata, labels } };
}

/** Brings the labels of a Namespace that was made bare to what the hub's Namespace says by now. Any other Namespace stays as it is. */
async function keepNamespaceLabels(
  { client }: Cluster,
  name: string | undefined,
  labels: Marking['namespaceLabels'],
  signal: AbortSignal,
): Promise<void> {
  if (name === undefined || labels === undefined) return;
  const present = await ifFound(client.resource(NAMESPACES).get({ name }, { signal }));
  if (present?.metadata?.labels?.[MANAGED_LABEL] !== MADE_FOR_CONTENT) return;
  const before = podSecurityLabels(present) ?? {};
  if (deepEqual(before, labels)) return;
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(labels, key));
  const changes = { ...Object.fromEntries(removed.map((key) => [key, null])), ...labels };
  const body = { metadata: { uid: present.metadata.uid, labels: changes } };
  await client.resource(NAMESPACES).patch({ name }, { type: 'merge', body }, { fieldManager: FIELD_MANAGER, signal });
}

async function makeNamespace(
  { client }: Cluster,
  { name, labels }: { name: string; labels: Marking['namespaceLabels'] },
  signal: AbortSignal,
): Promise<void> {
  const namespace = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { ...labels, [MANAGED_LABEL]: MADE_FOR_CONTENT } },
  };
  try {
    await client.resource(NAMESPACES).create(namespace, { fieldManager: FIELD_MANAGER, signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

export interface Removal {
  label: string;
  preserve: boolean;
  known?: KubeObject | undefined;
  signal: AbortSignal;
}

/**
 * Removes an object from the member, or, to preserve it, only our mark on it. What does not carry this label is somebody else's and
 * is left alone; so is, but for the mark, a Namespace that was there before it was taken over. What is gone is fine. `known` is the
 * object as a cache has it: it is removed as it stands there, and looked at again only where it has changed since.
 */
export async function removeObject(
  cluster: Cluster,
  ref: ManifestRef,
  { label, preserve, known, signal }: Removal,
): Promise<void> {
  try {
    const type = await cluster.client.discovery.typeFor(ref);
    if (known && !preserve && !isAdopted(known) && (await removeKnown(cluster, { type, known, label, signal }))) return;
    const live = await readObject(cluster, type, ref, signal);
    if (live?.metadata?.labels?.[MANAGED_LABEL] !== label) return;
    const { uid, namespace, name = '' } = live.metadata;
    const objects = cluster.client.resource(type);
    const adopted = isAdopted(live);
    if (preserve || adopted) {
      const marks = {
        labels: { [MANAGED_LABEL]: null },
        ...(adopted ? { annotations: { [ADOPTED_ANNOTATION]: null } } : {}),
      };
      const body = { metadata: { uid, ...marks } };
      await objects.patch({ namespace, name }, { type: 'merge', body }, { fieldManager: FIELD_MANAGER, signal });
    } else if (!live.metadata.deletionTimestamp) {
      await objects.delete({ namespace, name }, { propagationPolicy: 'Background', preconditions: { uid }, signal });
    }
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** A Namespace that was there before it was taken over: with it would go all that is in it. */
function isAdopted({ kind, metadata }: KubeObject): boolean {
  return kind === 'Namespace' && metadata?.annotations?.[ADOPTED_ANNOTATION] !== undefined;
}

/** Tells whether it could be removed as it is known: where it has changed since, somebody else's mark may be on it. */
async function removeKnown(
  { client }: Cluster,
  { type, known, label, signal }: { type: ResourceType; known: KubeObject; label: string; signal: AbortSignal },
): Promise<boolean> {
  const { uid, resourceVersion, namespace, name = '', labels, deletionTimestamp } = known.metadata ?? {};
  if (labels?.[MANAGED_LABEL] !== label || deletionTimestamp || !resourceVersion) return false;
  const preconditions = { uid, resourceVersion };
  try {
    await client.resource(type).delete({ namespace, name }, { propagationPolicy: 'Background', preconditions, signal });
    return true;
  } catch (error) {
    if (!isConflict(error)) throw error;
    return false;
  }
}

/**
 * Why an object that does not carry our label for this Work must not be taken; undefined where it may.
 *
 * @param claim.overwrite whether the Work takes what others than Asterism made
 * @param claim.owner the Work that a label speaks of, if there is one
 */
export function whyNotOurs(
  live: KubeObject,
  { overwrite, owner }: { overwrite: boolean; owner: (label: string) => string | undefined },
): string | undefined {
  const label = live.metadata?.labels?.[MANAGED_LABEL];
  const other = label === undefined || label === MADE_FOR_CONTENT ? undefined : owner(label);
  if (other !== undefined) return `it was placed by the Work ${other} and can have one owner only`;
  if (overwrite || !isForeign(live)) return undefined;
  return 'it exists already and was not placed by Asterism: delete it there, or set conflictResolution: Overwrite in the policy';
}

/** Whether others than Asterism made an object: it was never applied by us, not even under a label that was taken off since. */
export function isForeign({ metadata }: KubeObject): boolean {
  const isOurs = metadata?.managedFields?.some(
    ({ manager, operation }) => manager === FIELD_MANAGER && operation === 'Apply',
  );
  return metadata?.labels?.[MANAGED_LABEL] === undefined && !isOurs;
}
