import {
  applyJsonPatch,
  applyMergePatch,
  applyObject,
  applyStrategicMergePatch,
  badRequest,
  failure,
  invalid,
  type KubeObject,
} from '@asterism/machinery';
import { resetFields } from './field-ownership.ts';
import type { ObjectRef, Patch, WriteContext } from './registry.ts';
import type { ServedVersion } from './served-version.ts';
import { required } from './strategy.ts';

/**
 * `old` with the patch applied, in the version of the request; nothing of it is checked yet. `old` is undefined only for an
 * apply of what does not exist.
 */
export function patchObject(
  resource: ServedVersion,
  ref: ObjectRef,
  old: KubeObject | undefined,
  patch: Patch,
  context: WriteContext & { now: string },
): KubeObject {
  const live = old ?? {};
  switch (patch.type) {
    case 'json':
      return asObject(applyJsonPatch(live, patch.body));
    case 'merge':
      return asObject(applyMergePatch(live, patch.body));
    case 'strategic': {
      const schema = resource.structural;
      if (resource.storage === 'custom' || !schema) throw strategicNotSupported();
      return asObject(applyStrategicMergePatch(live, patch.body, schema));
    }
    case 'apply':
      return apply(resource, ref, old, patch, context);
  }
}

function apply(
  resource: ServedVersion,
  ref: ObjectRef,
  live: KubeObject | undefined,
  patch: Patch & { type: 'apply' },
  context: WriteContext & { now: string },
): KubeObject {
  const schema = resource.structural;
  if (!schema) throw failure(415, 'server-side apply is not supported for this resource');
  if (!context.fieldManager) {
    throw invalid(PATCH_OPTIONS, '', [required('fieldManager', 'is required for apply patch')]);
  }
  const applied = asObject(patch.body);
  const { name } = applied.metadata ?? {};
  if (name !== undefined && name !== ref.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${ref.name})`);
  }
  const outcome = applyObject({
    live,
    applied,
    manager: context.fieldManager,
    force: patch.force === true,
    schema,
    time: context.now,
    resetFields: resetFields(resource, context.subresource),
    ...(context.subresource ? { subresource: context.subresource } : {}),
  });
  if (outcome.outcome === 'conflict') throw outcome.error;
  return outcome.object;
}

function asObject(value: unknown): KubeObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('the patched document is not an object');
  }
  return value as KubeObject;
}

const PATCH_OPTIONS = { group: 'meta.k8s.io', kind: 'PatchOptions' };

function strategicNotSupported(): Error {
  const accepted = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'];
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return failure(415, message);
}
