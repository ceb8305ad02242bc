import { deepEqual, type KubeObject } from '@asterism/machinery';
import { carryMetadata, dedupeOwners } from './metadata.ts';
import type { ServedVersion } from './served-version.ts';
import type { Draft } from '../contract/strategy.ts';
import { specChanged } from './validate-metadata.ts';
import type { Update } from './write.ts';

/** The new state of an object: the parts that this endpoint may change are those of the draft, and the rest is that of `old`. */
export function prepareUpdate(write: Update): Draft {
  const { resource, object: draft, old, strategyContext } = write;
  const { subresource } = write.context;
  if (write.isReplaced) carryMetadata(draft, old);
  const part = subresource === undefined ? undefined : resource.strategy.parts?.[subresource];
  let prepared = draft;
  if (part) prepared = part(draft, old, strategyContext);
  else if (subresource === 'status') prepared = statusOf(resource, draft, old);
  else {
    if (resource.hasSubresource('status')) putBack(draft, old, 'status');
    resource.strategy.prepareForUpdate?.(draft, old, strategyContext);
  }
  if (subresource !== 'status') raiseGeneration(resource, prepared, old);
  dedupeOwners(prepared, strategyContext.warn);
  return prepared;
}

/** An update of the status alone: everything else is as it was, but for metadata of built-in kinds, as upstream. */
function statusOf(resource: ServedVersion, draft: Draft, old: KubeObject): Draft {
  const { managedFields, resourceVersion } = draft.metadata;
  const metadata = keepsMetadata(resource) ? { ...old.metadata } : draft.metadata;
  if (managedFields) metadata.managedFields = managedFields;
  if (resourceVersion) metadata.resourceVersion = resourceVersion;
  if (resource.strategy.statusKeepsLabels) keepLabels(metadata, old);
  const result: Draft = { ...old, metadata };
  putBack(result, draft, 'status');
  resource.strategy.prepareForStatusUpdate?.(result, old);
  return result;
}

/** Whether an update of the status puts all metadata back, as those of custom resources and of some built-in kinds do. */
function keepsMetadata({ storage, strategy }: ServedVersion): boolean {
  const reset = strategy.resetFields?.status;
  return reset ? reset.some((path) => path.length === 1 && path[0] === 'metadata') : storage === 'custom';
}

function keepLabels(metadata: Draft['metadata'], old: KubeObject): void {
  const { labels } = old.metadata ?? {};
  if (labels) metadata.labels = labels;
  else delete metadata.labels;
}

/** `metadata.generation` counts the changes of what a user wants. */
function raiseGeneration(resource: ServedVersion, draft: Draft, old: KubeObject): void {
  const rule = resource.strategy.generation ?? 'none';
  const { generation } = old.metadata ?? {};
  if (generation === undefined || rule === 'none' || rule === 'initial') return;
  // Without a status subresource the status of a custom resource is a field like any other.
  const status =
    resource.storage === 'custom' && !resource.hasSubresource('status') && !deepEqual(draft.status, old.status);
  if (status || specChanged(draft, old) || (rule === 'metadata' && labelsChanged(draft, old)))
    draft.metadata.generation = generation + 1;
}

function putBack(draft: Draft, old: KubeObject, field: string): void {
  if (Object.hasOwn(old, field)) draft[field] = old[field];
  else delete draft[field];
}

function labelsChanged(draft: Draft, old: KubeObject): boolean {
  return !deepEqual(draft.metadata.labels ?? {}, old.metadata?.labels ?? {});
}
