export { type Binding, bindingType } from './binding-client.ts';
export { bindingName } from './binding-name.ts';
export { ensureTemplateNamespace } from './ensure-template-namespace.ts';
export { type PassedOver, passedOver } from './explain-choice.ts';
export { KnownClusters } from './known-clusters.ts';
export type { Policies, Policy } from './match-policy.ts';
export { addPlacement, type PlacementOptions } from './placement-controller.ts';
export * from './preview/index.ts';
export { type Schedule, schedule, type ScheduleInput, type Unschedulable } from './schedule.ts';
