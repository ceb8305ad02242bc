import { isJsonObject } from '@asterism/machinery';
import type { Fields } from '../objects/generated-kind.ts';

/** An answer or object of the real server and what ours has in the same place. Rules change the real one, or both, in place. */
export interface AnswerPair {
  real: Fields;
  own: Fields;
  /** As the request's path has it, without the case's names: `POST /apis/apps/v1/deployments`. */
  request: string;
  /** What follows `?`. */
  query: string;
}

/**
 * What 1.20 answers otherwise than 1.36. It takes a difference away where, and only where, 1.36's form is what ours has or what
 * 1.20's is turned into.
 */
export interface KnownDifference {
  /** What differs, in a few words; unique. */
  name: string;
  /** The change of Kubernetes that it comes from. */
  reason: string;
  /** Of each whole answer (`{status, body}`). Returns whether it changed something. */
  answer?(pair: AnswerPair): boolean;
  /** Of each object in an answer, those of lists, Tables and watch events too. */
  object?(pair: AnswerPair, kind: string): boolean;
}

/** The value at a dotted path (list items by number), or undefined. */
export function valueAt(value: unknown, path: string): unknown {
  let found = value;
  for (const key of path.split('.')) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as Fields)[key];
  }
  return found;
}

/** The objects that hold the last key of the path; `*` stands for every item of a list. */
export function holdersOf(value: unknown, path: readonly string[]): Fields[] {
  const [key = '', ...rest] = path;
  if (rest.length === 0) return isJsonObject(value) ? [value] : [];
  if (key === '*') return Array.isArray(value) ? value.flatMap((item) => holdersOf(item, rest)) : [];
  return isJsonObject(value) ? holdersOf(value[key], rest) : [];
}

/** `fieldsV1` of each entry of `metadata.managedFields`. */
export function managedFieldsOf(object: Fields): Fields[] {
  const entries = valueAt(object, 'metadata.managedFields');
  if (!Array.isArray(entries)) return [];
  return entries.map((entry: unknown) => (entry as Fields)['fieldsV1']).filter(isJsonObject);
}
