export { type MetricsOptions, type Metrics, createMetrics } from './create-metrics.ts';
export type {
  ReconcileOutcome,
  QueueInstruments,
  ControllerInstruments,
  QueueLoad,
  MeasuredController,
  MeasuredCluster,
  WebhookInstruments,
  Instruments,
} from '../instruments/instruments.ts';
