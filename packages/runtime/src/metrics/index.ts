export * from './create-metrics.ts';
export type * from '../instruments/instruments.ts';
