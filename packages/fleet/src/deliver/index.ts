export { type AnyOverridePolicy, mayOverride } from './apply-overrides.ts';
export { addDelivery, type DeliveryOptions } from './add-delivery.ts';
export { addPullExecutor, addPushExecutor, type ExecutorOptions } from './add-executor.ts';
export { compareInMember, findExtra, markOf, type MemberComparison, type Wanted } from './compare-in-member.ts';
export { createRenderer, type Rendered } from './render-manifest.ts';
export { overrideFaults } from './unapplied-overrides.ts';
