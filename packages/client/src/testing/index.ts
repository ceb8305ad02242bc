export * from './certificates.ts';
export { type ConnectProxy, type ConnectProxyOptions, startConnectProxy } from './connect-proxy.ts';
export { ManualClock } from './manual-clock.ts';
export { until } from './until.ts';
