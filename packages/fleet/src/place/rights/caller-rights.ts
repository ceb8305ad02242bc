import type { Client } from '@asterism/client';
import {
  deepEqual,
  isNotFound,
  isStatusError,
  SELF_SUBJECT_ACCESS_REVIEWS,
  SELF_SUBJECT_REVIEWS,
} from '@asterism/machinery';
import { type Authorize, authorizeBy } from './access-reviews.ts';
import type { Subject } from './subject.ts';

/** The caller as the API server knows them; undefined if it does not say (before Kubernetes 1.28). */
export async function readCaller(client: Client, signal?: AbortSignal): Promise<Subject | undefined> {
  try {
    const { status } = await client.resource(SELF_SUBJECT_REVIEWS).create({}, { signal });
    const { username, groups = [], uid, extra } = status?.userInfo ?? {};
    if (!username) return undefined;
    return { username, groups, ...(uid ? { uid } : {}), ...(extra ? { extra } : {}) };
  } catch (error) {
    if (isNotFound(error) || isStatusError(error, 'Forbidden')) return undefined;
    throw error;
  }
}

/**
 * Asks for rights as a caller who is not the hub. Rights of others take the right to create SubjectAccessReviews. Without it a caller finds
 * out their own rights only; questions about others reject as Forbidden.
 */
export function authorizeAsCaller(client: Client): Authorize {
  const ask = authorizeBy(client);
  let refused: unknown;
  let caller: Promise<Subject | undefined> | undefined;
  return async (subject, access, signal) => {
    if (refused === undefined) {
      try {
        return await ask(subject, access, signal);
      } catch (error) {
        if (!isStatusError(error, 'Forbidden')) throw error;
        refused = error;
      }
    }
    caller ??= readCaller(client, signal);
    if (!isSame(await caller, subject)) throw refused;
    const { verb, group, resource, namespace, name } = access;
    const resourceAttributes = {
      verb,
      group,
      resource,
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
    };
    const review = { spec: { resourceAttributes } };
    const { status } = await client.resource(SELF_SUBJECT_ACCESS_REVIEWS).create(review, { signal });
    return status?.allowed === true;
  };
}

function isSame(caller: Subject | undefined, { username, groups }: Subject): boolean {
  return caller?.username === username && deepEqual(caller?.groups.toSorted(), groups.toSorted());
}
