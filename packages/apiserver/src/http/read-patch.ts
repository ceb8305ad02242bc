import { badRequest, failure } from '@asterism/machinery';
import type { Patch } from '../registry/registry.ts';
import type { ApiRequest } from './api-request.ts';
import { goTypeOf, parseJson } from './decode-body.ts';
import { parseYaml } from './parse-yaml.ts';
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

/** The patch of a request, its kind by content type (exactly so, as upstream): 415 for another, 400 for a malformed body. */
export async function readPatch(request: ApiRequest): Promise<PatchRequest> {
  const header = request.headers['content-type'];
  const type = TYPES[(Array.isArray(header) ? header[0] : header) ?? ''];
  if (type === undefined) throw failure(415, '415: Unsupported Media Type', { details: {} });
  const options = readWriteOptions(request, 'PatchOptions', type === 'apply');
  const bytes = await request.body();
  if (type === 'apply') {
    const { value, duplicates } = await readYaml(bytes, options.fieldValidation === 'Strict');
    return { patch: { type, body: value, force: options.force }, options, strictErrors: duplicates };
  }
  const { value, strictErrors } = readJson(bytes);
  if (type === 'json') checkOperations(value);
  else if (value === null || typeof value !== 'object' || Array.isArray(value)) checkMergePatch(value);
  return { patch: { type, body: type === 'json' ? (value ?? []) : value }, options, strictErrors };
}

function readJson(bytes: Uint8Array): { value: unknown; strictErrors: string[] } {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw badRequest(`error decoding patch: ${(error as Error).message}`);
  }
}

async function readYaml(bytes: Uint8Array, strict: boolean): Promise<{ value: unknown; duplicates: string[] }> {
  const read = await parseAny(bytes);
  if (strict && read.duplicates.length > 0) {
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${read.duplicates[0]}`);
  }
  if (read.value === null || read.value === undefined) return { value: {}, duplicates: read.duplicates };
  if (typeof read.value === 'object' && !Array.isArray(read.value)) return read;
  const why = `json: cannot unmarshal ${goTypeOf(read.value)} into Go value of type map[string]interface {}`;
  throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${why}`);
}

/** Most applies are JSON, which is YAML too, but parsed twenty times faster. */
async function parseAny(bytes: Uint8Array): Promise<{ value: unknown; duplicates: string[] }> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (/^\s*\{/.test(text)) {
      const { value, strictErrors } = tryJson(text);
      if (value !== undefined) return { value, duplicates: strictErrors };
    }
    return await parseYaml(text);
  } catch (error) {
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${(error as Error).message}`);
  }
}

function tryJson(text: string): { value: unknown; strictErrors: string[] } {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError || (error as Error).cause instanceof SyntaxError) {
      return { value: undefined, strictErrors: [] };
    }
    throw error;
  }
}

function checkOperations(value: unknown): void {
  if (value === null) return;
  if (!Array.isArray(value)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goTypeOf(value)} into Go value of type []handlers.jsonPatchOp`,
    );
  }
  if (value.length > MAX_OPERATIONS) {
    throw failure(
      413,
      `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${value.length}`,
    );
  }
  const wrong = value.find(
    (operation) => operation !== null && (typeof operation !== 'object' || Array.isArray(operation)),
  );
  if (wrong === undefined) return;
  throw badRequest(
    `error decoding patch: json: cannot unmarshal ${goTypeOf(wrong)} into Go value of type handlers.jsonPatchOp`,
  );
}

function checkMergePatch(value: unknown): never {
  if (value === null) throw badRequest('Invalid JSON Patch');
  throw badRequest(
    `error decoding patch: json: cannot unmarshal ${goTypeOf(value)} into Go value of type map[string]interface {}`,
  );
}
