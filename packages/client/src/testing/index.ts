export * from './certificates.ts';
export { ManualClock } from './manual-clock.ts';
