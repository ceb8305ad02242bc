/** The reason of a condition that says that nothing is written to a cluster for now, as Karmada has it. */
export const SUSPEND_DISPATCHING = 'SuspendDispatching';

/** The same for a person, said of one cluster. */
export const DISPATCHING_SUSPENDED = 'dispatching is suspended: nothing is changed in the cluster until that is lifted';
