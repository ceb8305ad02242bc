import { badRequest, failure, isStatusError, jsonKindOf, readJson } from '@asterism/machinery';
import { customPatchNotSupported } from '../../registry/patch-object.ts';
import type { Patch } from '../../registry/registry.ts';
import type { ApiRequest } from '../../contract/api-request.ts';
import { decodeJson } from '../body/decode-body.ts';
import { firstHeader } from '../../contract/first-header.ts';
import { parseYaml } from '../body/parse-yaml.ts';
import { readWriteOptions, type WriteOptions } from './write-options.ts';

const MAX_OPERATIONS = 10_000;

const TYPES: Record<string, Patch['type']> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

export interface PatchRequest {
  patch: Patch;
  options: WriteOptions;
  strictErrors: string[];
}

/**
 * The patch of a request, its kind by content type (exactly so, as upstream); 415 for another. A body that is no such patch is
 * told with the patch (`fault`): upstream reads it when the object has been found.
 */
export async function readPatch(request: ApiRequest, isCustom = false): Promise<PatchRequest> {
  const [mediaType = ''] = (firstHeader(request.headers, 'content-type') ?? '').split(';');
  const type = TYPES[mediaType];
  // Upstream's server of custom resources has no routes by content type: its words are others.
  if (isCustom && (type === undefined || type === 'strategic')) throw customPatchNotSupported();
  if (type === undefined) throw failure(415, '415: Unsupported Media Type', { details: {} });
  const options = readWriteOptions(request, 'PatchOptions', type === 'apply');
  const bytes = await request.body();
  try {
    const { value, strictErrors } = await readBody(type, bytes, options);
    const patch: Patch = type === 'apply' ? { type, body: value, force: options.force } : { type, body: value };
    return { patch, options, strictErrors };
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return { patch: { type, body: {}, fault: error }, options, strictErrors: [] };
  }
}

interface Read {
  value: unknown;
  strictErrors: string[];
}

async function readBody(type: Patch['type'], bytes: Uint8Array, options: WriteOptions): Promise<Read> {
  const isLax = options.fieldValidation === 'Ignore';
  switch (type) {
    case 'apply':
      return await readYaml(bytes, options.fieldValidation === 'Strict');
    case 'json':
      return readOperations(bytes, isLax);
    case 'merge':
      return readMergePatch(bytes, isLax ? undefined : 'error decoding patch: ');
    case 'strategic':
      return readMergePatch(bytes, '');
  }
}

function readJsonBody(bytes: Uint8Array, prefix: string): Read & { text: string } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { ...decodeJson(text), text };
  } catch (error) {
    if (isStatusError(error)) throw error;
    throw badRequest(`${prefix}${(error as Error).message}`);
  }
}

async function readYaml(bytes: Uint8Array, strict: boolean): Promise<Read> {
  const { value, duplicates } = await parseAny(bytes);
  if (strict && duplicates.length > 0) {
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${duplicates[0]}`);
  }
  const strictErrors = duplicates.slice(0, 1).map((each) => `error converting YAML to JSON: ${each}`);
  if (value === null || value === undefined) return { value: {}, strictErrors };
  if (typeof value === 'object' && !Array.isArray(value)) return { value, strictErrors };
  const why = `json: cannot unmarshal ${jsonKindOf(value)} into Go value of type ${MAP}`;
  throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${why}`);
}

/** Most applies are JSON, which is YAML too, but parsed twenty times faster. */
async function parseAny(bytes: Uint8Array): Promise<{ value: unknown; duplicates: string[] }> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const read = /^\s*\{/.test(text) ? tryJson(text) : undefined;
    // Keys that stand twice are told as the YAML parser tells them.
    if (read && read.strictErrors.length === 0) return { value: read.value, duplicates: [] };
    return await parseYaml(text);
  } catch (error) {
    if (isStatusError(error)) throw error;
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${(error as Error).message}`);
  }
}

function tryJson(text: string): Read | undefined {
  try {
    return decodeJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const MAP = 'map[string]interface {}';
const OPERATION_FIELDS = ['op', 'path', 'from', 'value'];

/** The operations of a JSON patch. Without field validation upstream's words for what is none are its library's. */
function readOperations(bytes: Uint8Array, isLax: boolean): Read {
  const prefix = isLax ? '' : 'error decoding patch: ';
  const [list, operation] = isLax
    ? ['jsonpatch.Patch', 'jsonpatch.Operation']
    : ['[]handlers.jsonPatchOp', 'handlers.jsonPatchOp'];
  const { value, strictErrors, text } = readJsonBody(bytes, prefix);
  if (value === null) return { value: [], strictErrors };
  if (!Array.isArray(value)) {
    throw badRequest(`${prefix}json: cannot unmarshal ${jsonKindOf(value)} into Go value of type ${list}`);
  }
  const unknown: string[] = [];
  for (const [index, each] of (value as unknown[]).entries()) {
    if (each === null) continue;
    if (typeof each !== 'object' || Array.isArray(each)) {
      throw badRequest(`${prefix}json: cannot unmarshal ${jsonKindOf(each)} into Go value of type ${operation}`);
    }
    const others = Object.keys(each).filter((key) => !OPERATION_FIELDS.includes(key));
    unknown.push(...others.map((key) => `unknown field "[${index}].${key}"`));
  }
  if (value.length > MAX_OPERATIONS) {
    throw failure(
      413,
      `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${value.length}`,
    );
  }
  return {
    value: withNumbersAsWritten(value as unknown[], text),
    strictErrors: [...strictErrors, ...unknown].map((each) => `json patch ${each}`),
  };
}

/**
 * A test compares a number as it is written: `3.0` is not `3`, which is how the server writes it. Such a number is replaced by
 * one that equals none.
 */
function withNumbersAsWritten(operations: unknown[], text: string): unknown[] {
  if (!/\d[.eE]|-0/.test(text)) return operations;
  if (!operations.some((each) => (each as { op?: unknown } | null)?.op === 'test')) return operations;
  const number = (source: string): number => (source === String(Number(source)) ? Number(source) : Number.NaN);
  const strict = readJson(text, { number }) as unknown[];
  return operations.map((each, index) => ((each as { op?: unknown } | null)?.op === 'test' ? strict[index] : each));
}

/** A patch that is an object. `prefix` undefined: whatever is none is told in one way. */
function readMergePatch(bytes: Uint8Array, prefix: string | undefined): Read {
  if (prefix === undefined) return readLaxMergePatch(bytes);
  const { value, strictErrors } = readJsonBody(bytes, prefix);
  if (value === null && prefix === '') return { value: {}, strictErrors };
  if (value === null) throw badRequest('Invalid JSON Patch');
  if (typeof value === 'object' && !Array.isArray(value)) return { value, strictErrors };
  throw badRequest(`${prefix}json: cannot unmarshal ${jsonKindOf(value)} into Go value of type ${MAP}`);
}

function readLaxMergePatch(bytes: Uint8Array): Read {
  try {
    return readMergePatch(bytes, '');
  } catch (error) {
    if (isStatusError(error) && error.status.code === 413) throw error;
    throw badRequest('Invalid JSON Patch');
  }
}
