export * from './create-metrics.ts';
export type * from './instruments.ts';
