import { isConflict, isNotFound, SECRETS, type Secret } from '@asterism/machinery';
import { type Controller, createController } from '@asterism/runtime';

/** A timer of Node.js cannot wait for longer than 24 days, and a clock may be set. */
const LONGEST_WAIT_MS = 60 * 60_000;

/**
 * Deletes bootstrap tokens that have expired, as kube-controller-manager's `tokencleaner` does where there is one. One without an
 * end stays, and one whose end nobody can read, which nobody takes either.
 */
export function createTokenCleaner(options: { now?: () => number } = {}): Controller {
  const { now = Date.now } = options;
  return createController({
    name: 'token-cleaner',
    async reconcile({ namespace, name }, { cluster: { client, cache }, signal, logger }) {
      const secret = cache.get(SECRETS, { namespace, name });
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

/** ms since 1970; not a number where it has no end. */
function endOf({ data }: Secret): number {
  return Date.parse(Buffer.from(data?.['expiration'] ?? '', 'base64').toString());
}
