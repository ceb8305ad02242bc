import { wallNow } from '@asterism/client';
import { findCondition, isConflict, isNotFound } from '@asterism/machinery';
import { type Controller, createController } from '@asterism/runtime';
import { CLUSTER_REGISTRATIONS, type ClusterRegistration } from '../../api/index.ts';

const DAY_MS = 24 * 60 * 60_000;

/**
 * How long a registration is kept that nothing follows from any more. One that was denied is what its agent is told when it is
 * started again: without it, it would ask anew.
 */
const KEPT_MS = { settled: 7 * DAY_MS, denied: 30 * DAY_MS };

/** A timer of Node.js cannot wait for longer than 24 days, and a clock may be set. */
const LONGEST_WAIT_MS = 60 * 60_000;

/**
 * Deletes registrations that were settled long ago, and those whose certificate request was cleared away unanswered: their agents
 * have asked anew, or have gone. What was decided stands in the log, and in what was made.
 */
export function createRegistrationCleaner(options: { now?: () => number } = {}): Controller {
  const { now = wallNow } = options;
  return createController({
    name: 'registration-cleaner',
    async reconcile({ name }, { cluster: { client, cache }, signal, logger }) {
      const registration = cache.get(CLUSTER_REGISTRATIONS, { name });
      const end = registration && endOf(registration);
      if (!registration || end === undefined) return;
      const left = end - now();
      if (left > 0) return { requeueAfter: Math.min(left, LONGEST_WAIT_MS) };
      const { uid = '', resourceVersion = '' } = registration.metadata;
      try {
        // Whoever decides about it in this moment has it stay.
        await client
          .resource(CLUSTER_REGISTRATIONS)
          .delete({ name }, { preconditions: { uid, resourceVersion }, signal });
        logger.info({ registration: name }, 'deleted a registration that nothing follows from any more');
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
      return undefined;
    },
  }).for(CLUSTER_REGISTRATIONS);
}

/** ms since 1970; undefined for one that waits for somebody. */
function endOf({ metadata, status }: ClusterRegistration): number | undefined {
  const complete = findCondition(status?.conditions, 'Complete');
  if (complete?.status === 'True') {
    const kept = status?.decision === 'Denied' ? KEPT_MS.denied : KEPT_MS.settled;
    return Date.parse(complete.lastTransitionTime) + kept;
  }
  return complete?.reason === 'RequestMissing'
    ? Date.parse(metadata.creationTimestamp ?? '') + KEPT_MS.settled
    : undefined;
}
