import {
  badRequest,
  failure,
  formatApiVersion,
  type GroupVersionKind,
  isStatusError,
  jsonKindOf,
  jsonSyntaxFault,
  type KubeObject,
  parseApiVersion,
  parseJson,
  ProtobufError,
} from '@asterism/machinery';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { findDuplicateFields, measureJson } from './duplicate-fields.ts';
import { parseYaml } from './parse-yaml.ts';
import { requireFewValues, requireReadable } from '../../registry/value-limit.ts';

/** How Go names the struct into which it reads the kind of a body. */
const TYPE_META =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
/** Deeper bodies are refused: nothing in Kubernetes nests so deep, and walking them costs stack. */
const MAX_DEPTH = 512;

export interface DecodedObject {
  object: KubeObject;
  /** What decoding found wrong without failing: keys that stand twice. `fieldValidation` decides what becomes of them. */
  strictErrors: string[];
}

/**
 * Decodes the object of a request in any content type that the server speaks (JSON, YAML, protobuf; JSON without a header).
 *
 * A missing `kind` or `apiVersion` is taken from `expected`; another one than expected is 400 (`anyVersion`: another kind
 * only; clients send options in the version of the object that they belong to; `anyKind`: another version only, and it must say which). Of objects that stand twice under one key in
 * JSON, all members count, as Go has it (`lastCounts`: of the last, as for custom resources). Rejects with 415 for an unknown content
 * type and 400 for a body that is not an object, in upstream's words.
 */
export async function decodeObject(
  bytes: Uint8Array,
  contentType: string | undefined,
  expected: GroupVersionKind,
  options: { anyVersion?: boolean; anyKind?: boolean; lastCounts?: boolean } = {},
): Promise<DecodedObject> {
  const mediaType = mediaTypeOf(contentType);
  const { object, strictErrors } = await decodeAs(bytes, mediaType, { ...options, expected }).catch((error: Error) => {
    throw isStatusError(error) ? error : unrecognized(expected, error, mediaType, bytes);
  });
  return { object: withKind(object, expected, options), strictErrors };
}

/** The object of a request of any kind as it is, in any content type. Rejects with 415 for an unknown one, 400 for no object. */
export async function readObject(bytes: Uint8Array, contentType: string | undefined): Promise<KubeObject> {
  const mediaType = mediaTypeOf(contentType);
  const { object } = await decodeAs(bytes, mediaType, {}).catch((error: Error) => {
    throw isStatusError(error) ? error : badRequest(mediaType === PROTOBUF ? error.message : notJson(error));
  });
  return object;
}

async function decodeAs(
  bytes: Uint8Array,
  mediaType: string,
  { lastCounts = false, expected }: { lastCounts?: boolean; expected?: GroupVersionKind },
): Promise<DecodedObject> {
  if (mediaType === PROTOBUF) {
    const object = await decodeProtobuf(bytes, expected);
    if (bytes.length > LONG_BYTES) requireFewValues(object);
    await pauseAfter(bytes);
    return { object, strictErrors: [] };
  }
  if (mediaType === 'application/yaml') {
    const { value, duplicates } = await parseYaml(textOf(bytes));
    return { object: asObject(value), strictErrors: duplicates };
  }
  const { value, merged, strictErrors } = decodeJson(textOf(bytes));
  await pauseAfter(bytes);
  return { object: asObject(lastCounts ? value : merged), strictErrors };
}

/** `application/json` where nothing is said; 415 for what the server does not speak. */
function mediaTypeOf(contentType: string | undefined): string {
  const [type = '', ...params] = (contentType ?? '').split(';').map((part) => part.trim());
  const mediaType = type.toLowerCase();
  if (mediaType === '' && params.length === 0) return 'application/json';
  const known = ['application/json', 'application/yaml', PROTOBUF];
  if (known.includes(mediaType) && params.every((param) => param.includes('='))) return mediaType;
  throw failure(
    415,
    `the body of the request was in an unknown format - accepted media types include: ${known.join(', ')}`,
  );
}

/** A body that took so long to decode that others have their turn before it is worked on. */
const LONG_BYTES = 256 * 1024;

async function pauseAfter(bytes: Uint8Array): Promise<void> {
  if (bytes.length > LONG_BYTES) await nextTurn();
}

/** UTF-8, strictly: a byte that is none would otherwise be replaced and stored. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

/**
 * Parses any JSON value and finds keys that stand twice. `merged` is the value where objects under the same key are merged.
 * Throws in the words of Go's decoder.
 */
export function decodeJson(text: string): { value: unknown; merged: unknown; strictErrors: string[] } {
  const { keys, values, depth } = measureJson(text);
  if (depth > MAX_DEPTH) throw new Error('exceeded max depth');
  requireReadable(values);
  const value: unknown = parseAsGo(text);
  requireFewValues(value, values);
  const duplicates = findDuplicateFields(text, value, keys);
  return duplicates
    ? { value, merged: duplicates.merged, strictErrors: duplicates.errors }
    : { value, merged: value, strictErrors: [] };
}

function parseAsGo(text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new SyntaxError(jsonSyntaxFault(text), { cause });
  }
}

function asObject(value: unknown): KubeObject {
  if (value === null || value === undefined) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value as KubeObject;
  throw new Error(`json: cannot unmarshal ${jsonKindOf(value)} into Go value of type ${TYPE_META}`);
}

async function decodeProtobuf(bytes: Uint8Array, expected: GroupVersionKind | undefined): Promise<KubeObject> {
  if (bytes.length === 0) throw new Error('empty data');
  const { loadProtobuf } = await import('@asterism/machinery');
  return (await loadProtobuf()).decode(bytes, expected);
}

/** 400 for a body that is no object; where its kind could be read, in the words of that. */
function unrecognized(expected: GroupVersionKind, error: Error, mediaType: string, bytes: Uint8Array): Error {
  const kind = error instanceof ProtobufError ? error.kind : undefined;
  if (kind) {
    const version = JSON.stringify(kind.version);
    return badRequest(`${kind.kind} in version ${version} cannot be handled as a ${expected.kind}: ${error.message}`);
  }
  // Of YAML that is none, its parser speaks alone.
  const why = mediaType === PROTOBUF || error.message.startsWith('yaml: ') ? error.message : notJson(error);
  return badRequest(
    `the object provided is unrecognized (must be of type ${expected.kind}): ${why} (${summarize(bytes)})`,
  );
}

/** What upstream says first of a body in JSON or YAML: its kind cannot be read. */
function notJson(error: Error): string {
  return `couldn't get version/kind; json parse error: ${error.message}`;
}

/** The beginning of a body as upstream shows it: text where it begins like an object, else hex. */
function summarize(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>';
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 64));
  const text = bytes[0] === 0x7b ? buffer.toString('utf8') : buffer.toString('hex');
  return text.length > 30 ? `${text.slice(0, 30)} ...` : text;
}

/** Fills in kind and version, and refuses an object of another. `kind` and `apiVersion` come first, as they are stored. */
function withKind(
  object: KubeObject,
  expected: GroupVersionKind,
  { anyVersion = false, anyKind = false }: { anyVersion?: boolean; anyKind?: boolean },
): KubeObject {
  const { kind = '', apiVersion = '', ...rest } = object;
  const expectedVersion = formatApiVersion(expected);
  if (!anyVersion && apiVersion !== '' && apiVersion !== expectedVersion) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expectedVersion})`,
    );
  }
  if (kind === '' && anyKind) {
    const text = JSON.stringify(object);
    throw badRequest(
      `${expected.kind} in version "${expected.version}" cannot be handled as a ${expected.kind}: Object 'Kind' is missing in '${text}'`,
    );
  }
  if (kind !== '' && kind !== expected.kind && !anyKind) {
    const { version } = parseApiVersion(expectedVersion);
    const conversion = `converting (${version}.${kind}) to (${expected.group.split('.')[0] || 'core'}.${expected.kind})`;
    throw badRequest(
      `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${expected.kind}: ${conversion}: unknown conversion`,
    );
  }
  return { kind: anyKind && kind !== '' ? kind : expected.kind, apiVersion: expectedVersion, ...rest };
}
