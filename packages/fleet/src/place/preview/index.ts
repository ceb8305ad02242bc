export { clusterLike, type ClusterHypothesis, imagineClusters } from './imagine-clusters.ts';
export {
  type ClusterChange,
  clusterChanges,
  type FleetRights,
  type ImaginedFleet,
  isChanged,
  type PlacementPreview,
  previewPlacements,
  withRights,
} from './preview-placements.ts';
export { readRights, type UnknownRights } from './read-rights.ts';
export { revealHidden } from './reveal-hidden.ts';
export { type FleetScope, readFleet } from './read-fleet.ts';
export { servedVersions } from './served-versions.ts';
