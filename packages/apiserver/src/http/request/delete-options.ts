import { badRequest, invalid, jsonKindOf } from '@asterism/machinery';
import { IGNORE_READ_ERROR } from '../../storage/storage-read-error.ts';
import type { ApiRequest } from '../../contract/api-request.ts';
import { readObject } from '../body/decode-body.ts';
import { firstHeader } from '../../contract/first-header.ts';
import { checkDryRun, readBoolean, readInteger } from './write-options.ts';
import type { DeleteOptions } from '../../contract/delete-options.ts';
import { invalidValue } from '../../registry/invalid-value.ts';

/** What a delete asks for, from its body or, without one, from its query. */
export async function readDeleteOptions(request: ApiRequest): Promise<DeleteOptions & { dryRun: boolean }> {
  const bytes = await request.body();
  const options = bytes.length > 0 ? await fromBody(bytes, request) : fromQuery(request.query);
  const errors = checkDryRun(options.dryRun);
  if (options[IGNORE_READ_ERROR] && options.dryRun.length > 0) {
    errors.push(invalidValue(IGNORE_READ_ERROR, true, 'cannot be set together with .dryRun'));
  }
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
  return { ...options, dryRun: options.dryRun.length > 0 };
}

type Options = DeleteOptions & { dryRun: string[] };

function fromQuery(query: URLSearchParams): Options {
  return {
    gracePeriodSeconds: readInteger(query, 'gracePeriodSeconds'),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
    orphanDependents: readBoolean(query, 'orphanDependents'),
    [IGNORE_READ_ERROR]: readBoolean(query, IGNORE_READ_ERROR),
    dryRun: query.getAll('dryRun'),
  };
}

/** Kinds that a delete's body may be of: upstream reads it with a scheme that has no others. */
const OPTION_KINDS = ['CreateOptions', 'DeleteOptions', 'GetOptions', 'ListOptions', 'PatchOptions', 'UpdateOptions'];
const SCHEME = 'k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27';

async function fromBody(bytes: Uint8Array, request: ApiRequest): Promise<Options> {
  const object = await readObject(bytes, firstHeader(request.headers, 'content-type'));
  const { kind = 'DeleteOptions', apiVersion = 'meta.k8s.io/v1' } = object;
  if (!OPTION_KINDS.includes(kind)) {
    throw badRequest(`no kind "${kind}" is registered for version "${apiVersion}" in scheme "${SCHEME}"`);
  }
  if (kind !== 'DeleteOptions') throw badRequest('decoded object cannot be converted to DeleteOptions');
  const field = <T>(name: string, type: string, goType: string): T | undefined => {
    const value = object[name];
    if (value === undefined || value === null) return undefined;
    if (jsonKindOf(value) === type && !(goType === 'int64' && !Number.isInteger(value))) return value as T;
    const shown =
      jsonKindOf(value) === 'number' && goType === 'int64' ? `number ${JSON.stringify(value)}` : jsonKindOf(value);
    throw badRequest(`json: cannot unmarshal ${shown} into Go struct field DeleteOptions.${name} of type ${goType}`);
  };
  return {
    gracePeriodSeconds: field<number>('gracePeriodSeconds', 'number', 'int64'),
    propagationPolicy: field<string>('propagationPolicy', 'string', 'v1.DeletionPropagation'),
    orphanDependents: field<boolean>('orphanDependents', 'bool', 'bool'),
    [IGNORE_READ_ERROR]: field<boolean>(IGNORE_READ_ERROR, 'bool', 'bool'),
    preconditions: field<NonNullable<DeleteOptions['preconditions']>>('preconditions', 'object', 'v1.Preconditions'),
    dryRun: field<string[]>('dryRun', 'array', '[]string') ?? [],
  };
}
