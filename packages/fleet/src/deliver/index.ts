export { addDelivery, type DeliveryOptions } from './add-delivery.ts';
export { addPullExecutor, addPushExecutor, type ExecutorOptions } from './add-executor.ts';
