import { badRequest, isJsonObject, jsonKindOf } from '@asterism/machinery';

/** A kind of reviews, in the versions that are answered. */
export interface ReviewKind {
  kind: string;
  apiVersions: readonly string[];
}

/** What an API server asks. */
export interface Review {
  apiVersion: string;
  kind: string;
  uid: string;
  request: Readonly<Record<string, unknown>>;
}

/** Throws 400 where the document is no such review. */
export function readReview(document: unknown, { kind, apiVersions }: ReviewKind): Review {
  const expected = `${kind} of ${apiVersions.join(' or ')}`;
  if (!isJsonObject(document)) throw badRequest(`expected ${expected}, got JSON of type ${jsonKindOf(document)}`);
  const { apiVersion, kind: given, request } = document;
  if (given !== kind || typeof apiVersion !== 'string' || !apiVersions.includes(apiVersion)) {
    throw badRequest(`expected ${expected}, got ${shown(given, 'kind')} of ${shown(apiVersion, 'apiVersion')}`);
  }
  if (!isJsonObject(request)) throw badRequest(`the ${kind} has no request`);
  const { uid } = request;
  if (typeof uid !== 'string' || uid === '') throw badRequest(`the ${kind} has no request.uid`);
  return { apiVersion, kind, uid, request };
}

/** The document that answers a review. */
export function answerReview({ apiVersion, kind, uid }: Review, response: object): object {
  return { apiVersion, kind, response: { uid, ...response } };
}

/** A few characters of what somebody sent, for a message. */
function shown(value: unknown, what: string): string {
  return typeof value === 'string' && value !== '' ? JSON.stringify(value.slice(0, 100)) : `no ${what}`;
}
