export type { AnyOverridePolicy } from './apply-overrides.ts';
export { addDelivery, type DeliveryOptions } from './add-delivery.ts';
export { addPullExecutor, addPushExecutor, type ExecutorOptions } from './add-executor.ts';
