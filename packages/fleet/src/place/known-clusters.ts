import { ServedKinds } from './api-enablement.ts';
import { ReplicaEstimates } from './replica-estimate.ts';

/** What was read of the accounts that clusters give of themselves: the same one for every decision, so that nothing is read twice. */
export class KnownClusters {
  readonly estimates = new ReplicaEstimates();
  readonly served = new ServedKinds();
}
