import { formatLabels } from '../http/health/metrics.ts';
import type { RejectionType, WebhookCall, WebhookMetrics } from './webhook-metrics.ts';

/** Seconds; upstream's bounds. */
const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];
const PREFIX = 'apiserver_admission_';
/** Codes above are counted as this one, so that a webhook cannot make up series without end. */
const MAX_CODE = 600;

interface Histogram {
  counts: number[];
  sum: number;
  count: number;
}

/** What has become of calls to admission webhooks, in upstream's names; nothing is written before the first call. */
export class AdmissionMetrics implements WebhookMetrics {
  readonly #counters = new Map<string, Map<string, number>>();
  readonly #durations = new Map<string, Histogram>();

  webhookCalled(call: WebhookCall, outcome: { code: number; rejected: boolean; seconds: number }): void {
    const { name, type, operation } = call;
    const rejected = String(outcome.rejected);
    const code = String(Math.min(outcome.code, MAX_CODE));
    this.#count('webhook_request_total', { name, type, operation, code, rejected });
    const labels = formatLabels({ name, type, operation, rejected });
    let histogram = this.#durations.get(labels);
    if (!histogram) this.#durations.set(labels, (histogram = { counts: BUCKETS.map(() => 0), sum: 0, count: 0 }));
    const bucket = BUCKETS.findIndex((bound) => outcome.seconds <= bound);
    if (bucket >= 0) histogram.counts[bucket]!++;
    histogram.sum += outcome.seconds;
    histogram.count++;
  }

  webhookRejected({ name, type, operation }: WebhookCall, errorType: RejectionType, code: number): void {
    const rejectionCode = String(Math.min(code, MAX_CODE));
    const labels = { name, type, operation, error_type: errorType, rejection_code: rejectionCode };
    this.#count('webhook_rejection_count', labels);
  }

  webhookFailedOpen({ name, type }: Pick<WebhookCall, 'name' | 'type'>): void {
    this.#count('webhook_fail_open_count', { name, type });
  }

  matchConditionExcluded({ name, type, operation }: WebhookCall): void {
    this.#count('match_condition_exclusions_total', { name, kind: 'webhook', type, operation });
  }

  matchConditionFailed({ name, type, operation }: WebhookCall): void {
    this.#count('match_condition_evaluation_errors_total', { name, kind: 'webhook', type, operation });
  }

  /** In Prometheus' text format. */
  lines(): string[] {
    const lines: string[] = [];
    for (const [name, series] of this.#counters) {
      lines.push(`# TYPE ${PREFIX}${name} counter`);
      for (const [labels, count] of series) lines.push(`${PREFIX}${name}${labels} ${count}`);
    }
    if (this.#durations.size > 0) lines.push(`# TYPE ${DURATION} histogram`);
    for (const [labels, histogram] of this.#durations) lines.push(...writeHistogram(labels, histogram));
    return lines;
  }

  #count(name: string, labels: Readonly<Record<string, string>>): void {
    let series = this.#counters.get(name);
    if (!series) this.#counters.set(name, (series = new Map()));
    const text = formatLabels(labels);
    series.set(text, (series.get(text) ?? 0) + 1);
  }
}

const DURATION = `${PREFIX}webhook_admission_duration_seconds`;

function writeHistogram(labels: string, { counts, sum, count }: Histogram): string[] {
  const withBound = (bound: string): string => `${labels.slice(0, -1)},le="${bound}"}`;
  let below = 0;
  const buckets = BUCKETS.map((bound, index) => {
    below += counts[index]!;
    return `${DURATION}_bucket${withBound(String(bound))} ${below}`;
  });
  return [
    ...buckets,
    `${DURATION}_bucket${withBound('+Inf')} ${count}`,
    `${DURATION}_sum${labels} ${sum}`,
    `${DURATION}_count${labels} ${count}`,
  ];
}
