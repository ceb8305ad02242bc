import { randomUUID } from 'node:crypto';
import { badRequest, generateName, type KubeObject, type OwnerReference } from '@asterism/machinery';
import { unexpected } from './decode-object.ts';
import type { ServedVersion } from './served-version.ts';
import type { Draft } from '../contract/strategy.ts';

/** RFC 3339 with whole seconds, as all times of metadata. */
export function formatTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

/** The namespace of the URL rules: an object may repeat it or leave it out; cluster-scoped objects have none. */
export function settleNamespace(resource: ServedVersion, draft: Draft, namespace: string | undefined): void {
  if (!resource.type.namespaced) {
    delete draft.metadata.namespace;
    return;
  }
  if (draft.metadata.namespace && namespace && draft.metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  const settled = draft.metadata.namespace || namespace;
  if (settled) draft.metadata.namespace = settled;
}

/** Takes away what a client cannot say of a new object. */
export function clearMetadataForCreate(draft: Draft): void {
  const { metadata } = draft;
  if (metadata.resourceVersion && metadata.resourceVersion !== '0') {
    throw unexpected('resourceVersion should not be set on objects to be created');
  }
  delete metadata.uid;
  delete metadata.creationTimestamp;
  delete metadata.resourceVersion;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  dropSelfLink(draft);
}

/** What the server alone says of a new object, but for a generated name. */
export function fillMetadataForCreate({ metadata }: Draft, { now }: { now: string }): void {
  metadata.uid = randomUUID();
  metadata.creationTimestamp = now;
}

/** Makes a name where only `generateName` is given. */
export function fillGeneratedName({ metadata }: Draft, random: () => number): void {
  if (!metadata.name && metadata.generateName) metadata.name = generateName(metadata.generateName, random);
}

/** What an update cannot change is as it was; what it may not even say differently stays, to be refused by validation. */
export function carryMetadata(draft: Draft, old: KubeObject): void {
  const { metadata } = draft;
  const before = old.metadata ?? {};
  metadata.uid ||= before.uid ?? '';
  if (before.creationTimestamp) metadata.creationTimestamp = before.creationTimestamp;
  if (before.generation === undefined) delete metadata.generation;
  else metadata.generation = before.generation;
  if (before.deletionTimestamp) metadata.deletionTimestamp = before.deletionTimestamp;
  if (before.deletionGracePeriodSeconds !== undefined) {
    metadata.deletionGracePeriodSeconds ??= before.deletionGracePeriodSeconds;
  }
  if (before.resourceVersion) metadata.resourceVersion = before.resourceVersion;
  dropSelfLink(draft);
}

function dropSelfLink(draft: Draft): void {
  delete (draft.metadata as Record<string, unknown>).selfLink;
}

/** Removes owners that are named twice (by uid), which a warning tells; since Kubernetes 1.20. */
export function dedupeOwners(draft: Draft, warn: (text: string) => void): void {
  const owners = draft.metadata.ownerReferences;
  if (!owners || owners.length < 2) return;
  const byUid = new Map<string, OwnerReference>();
  const doubled = new Set<string>();
  for (const owner of owners) {
    if (byUid.has(owner.uid)) doubled.add(owner.uid);
    else byUid.set(owner.uid, owner);
  }
  if (doubled.size === 0) return;
  draft.metadata.ownerReferences = [...byUid.values()];
  warn(
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...doubled].join(', ')}`,
  );
}
