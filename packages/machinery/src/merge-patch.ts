import { copyInSteps } from './copy-in-steps.ts';
import { finishSteps, type Steps } from './finish-steps.ts';
import { isJsonObject, ownMember, setMember } from './json-object.ts';
import { badRequest } from './status.ts';

/**
 * Applies a JSON merge patch (RFC 7386): members of the patch replace or are merged into those of the document, null removes.
 * Neither argument is changed; the result shares what the patch leaves alone.
 *
 * @throws StatusError 400 where the patch is no object, in the words of a kube-apiserver.
 */
export function applyMergePatch(document: unknown, patch: unknown): Record<string, unknown> {
  if (patch === null) throw badRequest('Invalid JSON Patch');
  if (!isJsonObject(patch)) {
    const kind = Array.isArray(patch) ? 'array' : typeof patch === 'boolean' ? 'bool' : typeof patch;
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`,
    );
  }
  return mergeObject(document, patch);
}

function mergeObject(target: unknown, patch: Record<string, unknown>): Record<string, unknown> {
  return finishSteps(mergePatchInSteps(target, patch));
}

/** Members of a patch that are merged in one step. */
const MEMBERS_OF_STEP = 8_192;

/** {@link applyMergePatch} of an object, for a caller that does something else between two steps. */
export function* mergePatchInSteps(target: unknown, patch: Record<string, unknown>): Steps<Record<string, unknown>> {
  const result = isJsonObject(target) ? yield* copyInSteps(target) : {};
  for (const [index, key] of Object.keys(patch).entries()) {
    if (index > 0 && index % MEMBERS_OF_STEP === 0) yield;
    const value = patch[key];
    if (value === null) delete result[key];
    else if (isJsonObject(value)) setMember(result, key, yield* mergePatchInSteps(ownMember(result, key), value));
    else setMember(result, key, mergeValue(ownMember(result, key), value));
  }
  return result;
}

/** As a kube-apiserver's library has it, a list keeps its nulls only where it takes the place of an object. */
function mergeValue(current: unknown, value: unknown): unknown {
  if (isJsonObject(value)) return mergeObject(current, value);
  return isJsonObject(current) ? value : withoutNulls(value);
}

/** The objects in a list lose their members that are null. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.some(isContainer) ? value.map(withoutNulls) : value;
  return isJsonObject(value) ? mergeObject(undefined, value) : value;
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
