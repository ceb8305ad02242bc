export { createMetrics, type Metrics, type MetricsOptions } from './create-metrics.ts';
