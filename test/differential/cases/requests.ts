import type { RecordedRequest } from '../../conformance/scenario.ts';
import type { RequestStep } from '../differential-case.ts';
import { type FieldChange, type Fields, type GeneratedKind, pathOf } from '../objects/generated-kind.ts';

export const PATCH_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;
export type PatchType = keyof typeof PATCH_TYPES;

export interface PatchOptions {
  subresource?: string;
  query?: Record<string, string>;
  name?: string;
}

/** A DNS label of at most 63 characters. */
export function caseName(subject: string, ...words: (string | number)[]): string {
  const name = [subject, ...words]
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-');
  if (name.length > 63) throw new Error(`the name of case ${name} is too long`);
  return name;
}

/** The requests of a case to one kind. */
export interface Requests {
  /** What the case's object is called. */
  name: string;
  path: string;
  create(object: Fields, query?: Record<string, string>): RequestStep;
  get(subresource?: string): RequestStep;
  list(query?: Record<string, string>): RequestStep;
  /** The object as step `step` gave it, with the change. */
  replaceWith(step: number, change: FieldChange): RequestStep;
  update(object: unknown, query?: Record<string, string>): RequestStep;
  patch(type: PatchType, patch: unknown, options?: PatchOptions): RequestStep;
  delete(options?: Fields, query?: Record<string, string>): RequestStep;
}

/** In the case's namespace; a cluster-scoped object is named like the case, and lists of its kind show that one alone. */
export function requestsTo(kind: GeneratedKind, namespace: string): Requests {
  const path = pathOf(kind, namespace);
  const name = kind.namespaced ? 'one' : kind.kind === 'Namespace' ? `${namespace}-x` : namespace;
  const one = `${path}/${name}`;
  const step = (request: RecordedRequest): RequestStep => ({ request });
  return {
    name,
    path,
    create: (object, query = {}) => step({ method: 'POST', path, query, body: object }),
    get: (subresource) => step({ method: 'GET', path: subresource === undefined ? one : `${one}/${subresource}` }),
    list: (query = kind.namespaced ? {} : { fieldSelector: `metadata.name=${name}` }) =>
      step({ method: 'GET', path, query }),
    replaceWith: (from, change) => ({ request: { method: 'PUT', path: one }, replaces: { step: from, change } }),
    update: (object, query = {}) => step({ method: 'PUT', path: one, query, body: object }),
    patch: (type, patch, { subresource, query = {}, name: other } = {}) => {
      const target = `${path}/${other ?? name}${subresource === undefined ? '' : `/${subresource}`}`;
      return step({
        method: 'PATCH',
        path: target,
        query,
        headers: { 'Content-Type': PATCH_TYPES[type] },
        body: patch,
      });
    },
    delete: (options, query = {}) =>
      step({ method: 'DELETE', path: one, query, ...(options === undefined ? {} : { body: options }) }),
  };
}
