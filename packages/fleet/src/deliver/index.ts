export { addDelivery, type DeliveryOptions } from './add-delivery.ts';
export { addPullExecutor, addPushExecutor, type ExecutorOptions } from './execute/add-executor.ts';
export { compareInMember, findExtra, markOf, type MemberComparison, type Wanted } from './member/compare-in-member.ts';
export { type AnyOverridePolicy, mayOverride } from './override/apply-overrides.ts';
export { overrideFaults } from './override/unapplied-overrides.ts';
export { createRenderer, type Rendered } from './render/render-manifest.ts';
