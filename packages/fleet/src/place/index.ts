export { type PassedOver, passedOver, unableToSelect } from './explain-choice.ts';
export { KnownClusters } from './known-clusters.ts';
export type { Policies, Policy } from './match-policy.ts';
export { addPlacement } from './placement-controller.ts';
export { POLICY_CHECKS } from './policy-checks.ts';
export { clusterLike, type ClusterHypothesis, imagineClusters } from './preview/imagine-clusters.ts';
export {
  clusterChanges,
  type ImaginedFleet,
  isChanged,
  type PlacementPreview,
  previewPlacements,
  withRights,
} from './preview/preview-placements.ts';
export { readFleet } from './preview/read-fleet.ts';
export { readRights } from './preview/read-rights.ts';
export { revealHidden } from './preview/reveal-hidden.ts';
export { servedVersions } from './preview/served-versions.ts';
export { withAuthor } from './rights/author.ts';
export { readCaller } from './rights/caller-rights.ts';
export { admitPolicies } from './rights/admit-policies.ts';
export { protectDecisions } from './rights/protect-decisions.ts';
export { schedule, type ScheduleInput } from './schedule.ts';
