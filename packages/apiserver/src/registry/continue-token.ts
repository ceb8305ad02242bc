import { badRequest, expired, StatusError } from '@asterism/machinery';

/** Where a list goes on. `revision` -1: from what is there now, as a client may choose after its snapshot expired. */
export interface ContinueToken {
  revision: number;
  /** The first key that the next page may hold, without the prefix that all of the list's keys share. */
  start: string;
}

/** base64url of `{"v":"meta.k8s.io/v1","rv":N,"start":"/…\0"}`, as apiserver's `EncodeContinue` makes it. */
export function encodeContinueToken({ revision, start }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: `/${start}` })).toString('base64url');
}

/** Rejects with 400 what {@link encodeContinueToken} did not make. */
export function decodeContinueToken(token: string): ContinueToken {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(token, 'base64url').toString());
  } catch {
    throw badRequest('continue key is not valid: encoded continue key is not valid');
  }
  if (typeof value !== 'object' || value === null || !('v' in value) || !('rv' in value) || !('start' in value)) {
    throw badRequest('continue key is not valid: encoded continue token cannot be decoded');
  }
  const { v, rv, start } = value;
  if (v !== 'meta.k8s.io/v1')
    throw badRequest(`continue key is not valid: server does not recognize this encoded version "${String(v)}"`);
  if (typeof rv !== 'number' || !Number.isInteger(rv) || rv === 0) {
    throw badRequest('continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  }
  if (typeof start !== 'string' || !start.startsWith('/') || start.length < 2) {
    throw badRequest('continue key is not valid: encoded start key empty (version meta.k8s.io/v1)');
  }
  return { revision: rv, start: start.slice(1) };
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
