import { badRequest, invalid } from '@asterism/machinery';
import type { DeleteOptions } from '../registry/registry.ts';
import type { ApiRequest } from './api-request.ts';
import { decodeObject, goTypeOf } from './decode-body.ts';
import { checkDryRun, readBoolean, readInteger } from './write-options.ts';

/** What a delete asks for, from its body or, without one, from its query. */
export async function readDeleteOptions(request: ApiRequest): Promise<DeleteOptions & { dryRun: boolean }> {
  const bytes = await request.body();
  const options = bytes.length > 0 ? await fromBody(bytes, request) : fromQuery(request.query);
  const errors = checkDryRun(options.dryRun);
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
  return { ...options, dryRun: options.dryRun.length > 0 };
}

type Options = DeleteOptions & { dryRun: string[] };

function fromQuery(query: URLSearchParams): Options {
  return {
    gracePeriodSeconds: readInteger(query, 'gracePeriodSeconds'),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
    orphanDependents: readBoolean(query, 'orphanDependents'),
    dryRun: query.getAll('dryRun'),
  };
}

async function fromBody(bytes: Uint8Array, request: ApiRequest): Promise<Options> {
  const expected = { group: 'meta.k8s.io', version: 'v1', kind: 'DeleteOptions' };
  const contentType = request.headers['content-type'];
  const type = Array.isArray(contentType) ? contentType[0] : contentType;
  const { object } = await decodeObject(bytes, type, expected, { anyVersion: true });
  const field = <T>(name: string, type: string, goType: string): T | undefined => {
    const value = object[name];
    if (value === undefined || value === null) return undefined;
    if (goTypeOf(value) === type) return value as T;
    throw badRequest(
      `json: cannot unmarshal ${goTypeOf(value)} into Go struct field DeleteOptions.${name} of type ${goType}`,
    );
  };
  return {
    gracePeriodSeconds: field<number>('gracePeriodSeconds', 'number', 'int64'),
    propagationPolicy: field<string>('propagationPolicy', 'string', 'v1.DeletionPropagation'),
    orphanDependents: field<boolean>('orphanDependents', 'bool', 'bool'),
    preconditions: field<NonNullable<DeleteOptions['preconditions']>>('preconditions', 'object', 'v1.Preconditions'),
    dryRun: field<string[]>('dryRun', 'array', '[]string') ?? [],
  };
}
