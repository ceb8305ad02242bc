import {
  badRequest,
  failure,
  formatApiVersion,
  type GroupVersionKind,
  type KubeObject,
  parseApiVersion,
} from '@asterism/machinery';
import { findDuplicateFields, measureJson } from './duplicate-fields.ts';
import { parseYaml } from './parse-yaml.ts';

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
 * only; clients send options in the version of the object that they belong to). Rejects with 415 for an unknown content
 * type and 400 for a body that is not an object, in upstream's words.
 */
export async function decodeObject(
  bytes: Uint8Array,
  contentType: string | undefined,
  expected: GroupVersionKind,
  options: { anyVersion?: boolean } = {},
): Promise<DecodedObject> {
  const { object, strictErrors } = await decodeAs(bytes, mediaTypeOf(contentType), expected);
  return { object: withKind(object, expected, options.anyVersion ?? false), strictErrors };
}

async function decodeAs(bytes: Uint8Array, mediaType: string, expected: GroupVersionKind): Promise<DecodedObject> {
  if (mediaType === 'application/vnd.kubernetes.protobuf') {
    return { object: await decodeProtobuf(bytes, expected), strictErrors: [] };
  }
  try {
    if (mediaType === 'application/yaml') {
      const { value, duplicates } = await parseYaml(textOf(bytes));
      return { object: asObject(value), strictErrors: duplicates };
    }
    return parseJsonObject(textOf(bytes));
  } catch (error) {
    throw unrecognized(expected, error, bytes);
  }
}

/** `application/json` where nothing is said; 415 for what the server does not speak. */
function mediaTypeOf(contentType: string | undefined): string {
  const [type = '', ...params] = (contentType ?? '').split(';').map((part) => part.trim());
  const mediaType = type.toLowerCase();
  if (mediaType === '' && params.length === 0) return 'application/json';
  const known = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
  if (known.includes(mediaType) && params.every((param) => param.includes('='))) return mediaType;
  throw failure(
    415,
    `the body of the request was in an unknown format - accepted media types include: ${known.join(', ')}`,
  );
}

/** UTF-8, strictly: a byte that is none would otherwise be replaced and stored. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

/** Parses one JSON object. Throws what `JSON.parse` throws, in the words of Go's decoder where they are known. */
export function parseJsonObject(text: string): DecodedObject {
  const { value, strictErrors } = parseJson(text);
  return { object: asObject(value), strictErrors };
}

/** Parses any JSON value and finds keys that stand twice. */
export function parseJson(text: string): { value: unknown; strictErrors: string[] } {
  const { keys, depth } = measureJson(text);
  if (depth > MAX_DEPTH) throw new Error('exceeded max depth');
  const value: unknown = parseAsGo(text);
  return { value, strictErrors: findDuplicateFields(text, value, keys) };
}

function parseAsGo(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = (error as Error).message;
    if (/Unexpected end|Unterminated|position \d+/.test(message) && isPrefix(text, message)) {
      throw new Error('unexpected end of JSON input', { cause: error });
    }
    throw error;
  }
}

/** Whether the fault is that the text ends too early. */
function isPrefix(text: string, message: string): boolean {
  const position = /position (\d+)/.exec(message)?.[1];
  return position === undefined || Number(position) >= text.trimEnd().length;
}

function asObject(value: unknown): KubeObject {
  if (value === null || value === undefined) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value as KubeObject;
  throw new Error(`json: cannot unmarshal ${goTypeOf(value)} into an object`);
}

/** What Go's decoder calls a JSON value. */
export function goTypeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'null';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

async function decodeProtobuf(bytes: Uint8Array, expected: GroupVersionKind): Promise<KubeObject> {
  const { loadProtobuf } = await import('@asterism/machinery');
  try {
    return (await loadProtobuf()).decode(bytes);
  } catch (error) {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${expected.kind}): ${(error as Error).message} (${summarize(bytes)})`,
    );
  }
}

function unrecognized(expected: GroupVersionKind, error: unknown, bytes: Uint8Array): Error {
  const why = `couldn't get version/kind; json parse error: ${(error as Error).message}`;
  return badRequest(
    `the object provided is unrecognized (must be of type ${expected.kind}): ${why} (${summarize(bytes)})`,
  );
}

/** The beginning of a body as upstream shows it: text where it begins like an object, else hex. */
function summarize(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>';
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 64));
  const text = bytes[0] === 0x7b ? buffer.toString('utf8') : buffer.toString('hex');
  return text.length > 30 ? `${text.slice(0, 30)} ...` : text;
}

/** Fills in kind and version, and refuses an object of another. `kind` and `apiVersion` come first, as they are stored. */
function withKind(object: KubeObject, expected: GroupVersionKind, anyVersion: boolean): KubeObject {
  const { kind = '', apiVersion = '', ...rest } = object;
  const expectedVersion = formatApiVersion(expected);
  if (!anyVersion && apiVersion !== '' && apiVersion !== expectedVersion) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expectedVersion})`,
    );
  }
  if (kind !== '' && kind !== expected.kind) {
    const { version } = parseApiVersion(expectedVersion);
    const conversion = `converting (${version}.${kind}) to (${expected.group.split('.')[0] || 'core'}.${expected.kind})`;
    throw badRequest(
      `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${expected.kind}: ${conversion}: unknown conversion`,
    );
  }
  return { kind: expected.kind, apiVersion: expectedVersion, ...rest };
}
