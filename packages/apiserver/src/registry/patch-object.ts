import {
  applyJsonPatch,
  applyMergePatch,
  applyObjectInSteps,
  applyStrategicMergePatch,
  badRequest,
  cutForMessage,
  escapeHtml,
  failure,
  fieldRequired,
  finishSteps,
  formatGoValue,
  invalid,
  jsonKindOf,
  type KubeObject,
  parseApiVersion,
  parseJson,
  quoteGo,
  schemaOfKind,
  StatusError,
  type Steps,
} from '@asterism/machinery';
import { type DecodeContext, decodeObject, probeDecoding } from './decode-object.ts';
import { resetFields } from './field-ownership.ts';
import { patchedText } from './patched-text.ts';
import type { Patch, WriteContext } from './registry.ts';
import type { ServedVersion } from './served-version.ts';
import { countValues, mostValues, requireFewApplied, requireFewValues } from './value-limit.ts';
import type { Draft } from '../contract/strategy.ts';

/**
 * `old` with the patch applied, in the version of the request; nothing of it is checked yet. `old` is undefined only for an
 * apply of what does not exist.
 * `liveBytes`: how long its JSON is, if known.
 */
export function patchObject(...request: Parameters<typeof patchObjectInSteps>): KubeObject {
  return finishSteps(patchObjectInSteps(...request));
}

/** {@link patchObject} for a caller that does something else between two steps. */
export function* patchObjectInSteps(
  resource: ServedVersion,
  old: KubeObject | undefined,
  patch: Patch,
  context: WriteContext & { now: string; liveBytes?: number | undefined },
): Steps<KubeObject> {
  if (patch.fault) throw patch.fault;
  const live = old ?? {};
  const values = mostPatched(patch, context.liveBytes);
  switch (patch.type) {
    case 'json':
      return ofBearableSize(applyJsonPatch(live, patch.body));
    case 'merge':
      return ofBearableSize(applyMergePatch(live, patch.body), values);
    case 'strategic': {
      const schema = resource.structural;
      if (resource.storage === 'custom' || !schema) throw customPatchNotSupported();
      return ofBearableSize(applyStrategicMergePatch(live, patch.body, schema), values);
    }
    case 'apply':
      return ofBearableSize(yield* apply(resource, old, patch, { ...context, values }), values);
  }
}

function* apply(
  resource: ServedVersion,
  live: KubeObject | undefined,
  patch: Patch & { type: 'apply' },
  context: WriteContext & { now: string; values: number },
): Steps<KubeObject> {
  const schema = resource.structural;
  if (!schema) throw failure(415, 'server-side apply is not supported for this resource');
  if (!context.fieldManager) {
    throw invalid(PATCH_OPTIONS, '', [fieldRequired('fieldManager', 'is required for apply patch')]);
  }
  const applied = asObject(patch.body);
  // As upstream, what is no text counts as nothing.
  const [apiVersion, kind] = [applied.apiVersion, applied.kind].map((value) =>
    typeof value === 'string' ? value : '',
  );
  if (apiVersion !== resource.apiVersion || kind !== resource.type.kind) {
    const groupVersion = apiVersion?.includes('/') ? apiVersion : `/${apiVersion}`;
    throw badRequest(`invalid object type: ${groupVersion}, Kind=${kind}`);
  }
  requireFewApplied(live, applied, context.values);
  const outcome = yield* applyObjectInSteps({
    live,
    isStored: true,
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

/**
 * What a patch made, decoded: a draft of `resource`. Rejects with 422 where it is no object of the kind any more, and with
 * what `fieldValidation` says of fields that nobody knows.
 */
export function decodePatched(
  resource: ServedVersion,
  live: KubeObject | undefined,
  patched: KubeObject,
  patch: Patch,
  context: DecodeContext,
): Draft {
  if (patch.type === 'apply') return decodeApplied(resource, live, patched, context);
  const source = patch.type === 'strategic' ? 'map' : 'patched JSON';
  let isFaulty = false;
  const look = {
    ...context,
    source,
    base: live,
    warn: () => (isFaulty = true),
    fail: (why: string) => {
      isFaulty = true;
      return notApplicable('', why);
    },
  } as const;
  try {
    const draft = decodeObject(resource, patched, look);
    if (!isFaulty) return draft;
  } catch (error) {
    if (!isFaulty && !isOfAnotherKind(resource, patched)) throw error;
  }
  return tellFaults(resource, live ?? {}, patched, patch, { ...context, source });
}

/** What an apply made: its owners are as they shall be, and of its fields upstream has nothing to say any more. */
function decodeApplied(
  resource: ServedVersion,
  live: KubeObject | undefined,
  patched: KubeObject,
  context: DecodeContext,
): Draft {
  for (const each of context.fieldValidation === 'Ignore' ? [] : (context.strictErrors ?? [])) context.warn?.(each);
  const { managedFields, ...metadata } = patched.metadata ?? {};
  const object = { ...patched, metadata };
  const draft = decodeObject(resource, object, { ...context, base: live, fieldValidation: 'Ignore' });
  if (managedFields) draft.metadata.managedFields = managedFields;
  return draft;
}

/** Decodes again what was found to be faulty, in the order in which upstream finds the faults, and tells them. */
function tellFaults(
  resource: ServedVersion,
  live: KubeObject,
  patched: KubeObject,
  patch: Patch,
  context: DecodeContext,
): Draft {
  const isMap = context.source === 'map';
  const text = isMap ? formatGoValue(patch.body) : patchedText(resource, live, patched, patch);
  const shown = isMap ? text : escapeHtml(cutForMessage(text));
  const fail = (why: string): StatusError => notApplicable(shown, why);
  const ordered = isMap ? patched : (parseJson(text) as KubeObject);
  if (!isMap && isOfAnotherKind(resource, patched)) throw decodedAsAnotherKind(resource, ordered, fail);
  return decodeObject(resource, ordered, { ...context, fail });
}

function isOfAnotherKind({ storage, type, apiVersion }: ServedVersion, patched: KubeObject): boolean {
  if (storage !== 'builtin') return false;
  return (patched.kind || type.kind) !== type.kind || (patched.apiVersion || apiVersion) !== apiVersion;
}

/** A patch may name another kind: then it is as that kind that its outcome is decoded, and found to be the wrong one. */
function decodedAsAnotherKind(
  resource: ServedVersion,
  patched: KubeObject,
  fail: (why: string) => StatusError,
): StatusError {
  for (const field of ['kind', 'apiVersion'] as const) {
    const value: unknown = patched[field] ?? '';
    if (typeof value === 'string') continue;
    const why = `json: cannot unmarshal ${jsonKindOf(value)} into Go struct field .${field} of type string`;
    return fail(`couldn't get version/kind; json parse error: ${why}`);
  }
  const { kind = resource.type.kind, apiVersion = resource.apiVersion } = patched;
  const type = { ...parseApiVersion(apiVersion), kind };
  const schema = schemaOfKind(type);
  if (!schema) {
    const where = `version ${quoteGo(apiVersion)} in scheme "pkg/api/legacyscheme/scheme.go:30"`;
    return fail(`no kind ${quoteGo(kind)} is registered for ${where}`);
  }
  probeDecoding(patched, schema, fail);
  const { group } = resource.type;
  const into = `${group === '' ? 'core' : group.split('.')[0]}.${resource.type.kind}`;
  return fail(`converting (${type.version}.${kind}) to (${into}): unknown conversion`);
}

/** 422 for a patch that makes of an object what is none of its kind any more. */
function notApplicable(shown: string, why: string): StatusError {
  const message = `Invalid value: ${quoteGo(shown)}: ${why}`;
  return failure(422, ` "" is invalid: patch: ${message}`, {
    details: { causes: [{ reason: 'FieldValueInvalid', message, field: 'patch' }] },
  });
}

/** A patch adds to what is there: many of them must not make an object that nobody could send. */
function ofBearableSize(value: unknown, values?: number): KubeObject {
  const object = asObject(value);
  requireFewValues(object, values);
  return object;
}

/** The most values that an object of so many bytes has after the patch. A JSON patch may copy what is there as often as it likes. */
function mostPatched(patch: Patch, liveBytes = Number.POSITIVE_INFINITY): number {
  return patch.type === 'json' ? Number.POSITIVE_INFINITY : mostValues(liveBytes) + countValues(patch.body);
}

function asObject(value: unknown): KubeObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('the patched document is not an object');
  }
  return value as KubeObject;
}

const PATCH_OPTIONS = { group: 'meta.k8s.io', kind: 'PatchOptions' };

/** 415: a custom resource takes no strategic merge patch, as nothing says how its lists are merged. */
export function customPatchNotSupported(): Error {
  const accepted = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'];
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return failure(415, message);
}
