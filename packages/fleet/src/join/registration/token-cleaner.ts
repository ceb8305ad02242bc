import { wallNow } from '@asterism/client';
import type { Client, ObjectRef } from '@asterism/client';
import { isConflict, isNotFound, SECRETS, type Secret } from '@asterism/machinery';
import { type Controller, createController } from '@asterism/runtime';

/** A timer of Node.js cannot wait for longer than 24 days, and a clock may be set. */
const LONGEST_WAIT_MS = 60 * 60_000;

/**
 * Deletes bootstrap tokens that have expired, as kube-controller-manager's `tokencleaner` does where there is one. One without an
 * end stays, and one whose end nobody can read, which nobody takes either.
 */
export function createTokenCleaner(options: { now?: () => number } = {}): Controller {
  const { now = wallNow } = options;
  return createController({
    name: 'token-cleaner',
    async reconcile({ namespace, name }, { cluster: { client }, signal, logger }) {
      // Asked of the server: a cache in which others hold other Secrets does not say which of its stores is meant.
      const secret = await readSecret(client, { namespace, name }, signal);
      const left = secret ? endOf(secret) - now() : Number.NaN;
      if (!secret || Number.isNaN(left)) return;
      if (left > 0) return { requeueAfter: Math.min(left, LONGEST_WAIT_MS) };
      const { uid = '', resourceVersion = '' } = secret.metadata ?? {};
      try {
        // Whoever gives it another end meanwhile keeps it.
        await client.resource(SECRETS).delete({ namespace, name }, { preconditions: { uid, resourceVersion }, signal });
        logger.info({ secret: name }, 'deleted a bootstrap token that has expired');
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
      return undefined;
    },
  }).for(SECRETS, { namespace: 'kube-system', fieldSelector: 'type=bootstrap.kubernetes.io/token' });
}

async function readSecret(client: Client, ref: ObjectRef, signal: AbortSignal): Promise<Secret | undefined> {
  try {
    return await client.resource(SECRETS).get(ref, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** ms since 1970; not a number where it has no end. */
function endOf({ data }: Secret): number {
  return Date.parse(Buffer.from(data?.['expiration'] ?? '', 'base64').toString());
}
