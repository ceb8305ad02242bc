import { posix } from 'node:path';
import { expired, isJsonObject, jsonSyntaxFault, parseJson, StatusError } from '@asterism/machinery';
import { unexpected } from './decode-object.ts';

/** Where a list goes on. A negative `revision`: from what is there now, as a client may choose after its snapshot expired. */
export interface ContinueToken {
  revision: number;
  /** The first key that the next page may hold, without the prefix that all of the list's keys share. */
  start: string;
}

/** base64url of `{"v":"meta.k8s.io/v1","rv":N,"start":"/…\0"}`, as apiserver's `EncodeContinue` makes it. */
export function encodeContinueToken({ revision, start }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: `/${start}` })).toString('base64url');
}

const INVALID = 'continue key is not valid';

/**
 * Rejects with 500 what {@link encodeContinueToken} did not make: upstream finds it in its watch cache, which has no other
 * code for it.
 */
export function decodeContinueToken(token: string): ContinueToken {
  const { v, rv, start } = readToken(token);
  if (v !== 'meta.k8s.io/v1') throw unexpected(`${INVALID}: server does not recognize this encoded version ${v}`);
  if (rv === 0) throw unexpected(`${INVALID}: incorrect encoded start resourceVersion (version ${v})`);
  if (start === '') throw unexpected(`${INVALID}: encoded start key empty (version ${v})`);
  const key = start.startsWith('/') ? start : `/${start}`;
  if (posix.normalize(key).replace(/(.)\/$/, '$1') !== key) throw unexpected(`${INVALID}: ${start}`);
  return { revision: rv, start: key.slice(1) };
}

function readToken(token: string): { v: string; rv: number; start: string } {
  const fault = base64UrlFault(token);
  if (fault !== undefined) throw unexpected(`${INVALID}: illegal base64 data at input byte ${fault}`);
  const text = Buffer.from(token, 'base64url').toString();
  const value = parseToken(text);
  if (value !== null && !isJsonObject(value))
    throw unexpected(`${INVALID}: ${mismatch(value, 'value of type storage.continueToken')}`);
  const field = <T>(name: string, type: 'string' | 'number', goType: string, zero: T): T => {
    const given = value?.[name] ?? zero;
    const fits = typeof given === type && (type === 'string' || Number.isInteger(given));
    if (!fits)
      throw unexpected(`${INVALID}: ${mismatch(given, `struct field continueToken.${name} of type ${goType}`)}`);
    return given as T;
  };
  return {
    v: field('v', 'string', 'string', ''),
    rv: field('rv', 'number', 'int64', 0),
    start: field('start', 'string', 'string', ''),
  };
}

function parseToken(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw unexpected(`${INVALID}: ${jsonSyntaxFault(text)}`);
  }
}

function mismatch(value: unknown, into: string): string {
  const isFraction = typeof value === 'number' && into.endsWith('int64');
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return `json: cannot unmarshal ${isFraction ? `number ${value}` : kind} into Go ${into}`;
}

/** Where Go finds the fault of unpadded base64url; undefined where it has none. */
function base64UrlFault(text: string): number | undefined {
  const bad = text.search(/[^\w-]/);
  if (bad >= 0) return bad;
  return text.length % 4 === 1 ? text.length - 1 : undefined;
}

/** 410: the snapshot is gone. The answer carries a token with which a client may go on from what is there now. */
export function expiredContinueToken(token: ContinueToken): StatusError {
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the ' +
    'continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing ' +
    'with the provided token results in an inconsistent list - objects that were created, modified, or deleted between ' +
    'the time the first chunk was returned and now may show up in the list.';
  const { status } = expired(message);
  return new StatusError({
    ...status,
    metadata: { continue: encodeContinueToken({ revision: -1, start: token.start }) },
  });
}
