import {
  applyJsonPatch,
  escapeHtml,
  isJsonObject,
  isStatusError,
  jsonKindOf,
  type JsonPatchOperation,
  type KubeObject,
  ownMember,
  StatusError,
} from '@asterism/machinery';
import { decodeJson } from '../http/body/decode-body.ts';
import { internalError } from './webhook-failure.ts';

/** The operations of a patch as a webhook sent it. Throws an `Error` with upstream's words where it is no such thing. */
export function readPatch(text: string): JsonPatchOperation[] {
  const { value } = decodeJson(text);
  if (!Array.isArray(value)) {
    if (value === null) return [];
    throw new Error(`json: cannot unmarshal ${jsonKindOf(value)} into Go value of type jsonpatch.Patch`);
  }
  return value as JsonPatchOperation[];
}

/** `object` with the patch applied: another object. Rejects with 500 in the words of the library that upstream uses. */
export function applyWebhookPatch(object: KubeObject, operations: readonly JsonPatchOperation[]): KubeObject {
  try {
    return applyJsonPatch(object, operations) as KubeObject;
  } catch (error) {
    if (!isStatusError(error)) throw error;
    throw new StatusError(internalError(explain(object, operations)).status, { cause: error });
  }
}

/** Which operation it was, found by applying them one after the other. */
function explain(object: KubeObject, operations: readonly JsonPatchOperation[]): string {
  let document: unknown = object;
  for (const operation of operations) {
    try {
      document = applyJsonPatch(document, [operation]);
    } catch {
      return explainOperation(document, operation);
    }
  }
  return 'jsonpatch: the patch copies too much';
}

function explainOperation(document: unknown, operation: JsonPatchOperation): string {
  const { path } = operation;
  const op: unknown = operation.op;
  const shown = typeof path === 'string' ? path : '';
  switch (op) {
    case 'test':
      return `testing value ${shown} failed: test failed`;
    case 'add':
      return `add operation does not apply: doc is missing path: ${quote(shown)}: missing value`;
    case 'move':
    case 'copy':
      return `${op} operation does not apply: doc is missing ${hasParent(document, operation.from ?? '') ? 'key' : 'from path'}: ${operation.from ?? ''}: missing value`;
    case 'remove':
      if (!hasParent(document, shown))
        return `remove operation does not apply: doc is missing path: ${quote(shown)}: missing value`;
      return `error in remove for path: '${shown}': Unable to remove nonexistent key: ${lastKey(shown)}: missing value`;
    case 'replace':
      return `replace operation does not apply: doc is missing ${hasParent(document, shown) ? 'key' : 'path'}: ${shown}: missing value`;
    default:
      return `Unexpected kind: ${typeof op === 'string' ? op : 'unknown'}`;
  }
}

function quote(text: string): string {
  return escapeHtml(JSON.stringify(text));
}

function lastKey(path: string): string {
  return (path.split('/').at(-1) ?? '').replaceAll('~1', '/').replaceAll('~0', '~');
}

function hasParent(document: unknown, path: string): boolean {
  let at = document;
  for (const key of path.split('/').slice(1, -1)) {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    at = Array.isArray(at) ? at[Number(name)] : isJsonObject(at) ? ownMember(at, name) : undefined;
  }
  return typeof at === 'object' && at !== null;
}
