export { ensureTemplateNamespace } from './ensure-template-namespace.ts';
export { KnownClusters } from './known-clusters.ts';
export { addPlacement, type PlacementOptions } from './placement-controller.ts';
export { type Schedule, schedule, type ScheduleInput, type Unschedulable } from './schedule.ts';
