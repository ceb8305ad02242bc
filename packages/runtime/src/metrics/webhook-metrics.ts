import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { WebhookInstruments } from '../instruments/instruments.ts';

/** Seconds; controller-runtime's. */
const BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** What webhooks are asked, in controller-runtime's names. `webhook` is the path. */
export class WebhookMetrics implements WebhookInstruments {
  readonly #requests: Counter;
  readonly #inFlight: Gauge;
  readonly #latency: Histogram;
  readonly #panics: Counter;
  readonly #reads: Counter;
  readonly #readErrors: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    const counter = (name: string, help: string, labelNames: string[] = []): Counter =>
      new Counter({ name, help, labelNames, registers });
    const prefix = 'controller_runtime_webhook';
    const labelNames = ['webhook'];
    this.#requests = counter(`${prefix}_requests_total`, 'Reviews by HTTP status.', ['webhook', 'code']);
    const ofFlight = { name: `${prefix}_requests_in_flight`, help: 'Reviews that are being answered.' };
    this.#inFlight = new Gauge({ ...ofFlight, labelNames, registers });
    const ofLatency = { name: `${prefix}_latency_seconds`, help: 'How long a webhook took to answer.' };
    this.#latency = new Histogram({ ...ofLatency, labelNames, buckets: BUCKETS, registers });
    this.#panics = counter(`${prefix}_panics_total`, 'Reviews that failed by a mistake in the code.');
    this.#reads = counter('certwatcher_read_certificate_total', 'How often certificate files were read.');
    const help = 'How often certificate files were read and could not be used.';
    this.#readErrors = counter('certwatcher_read_certificate_errors_total', help);
  }

  asked(webhook: string): (status: number | undefined) => void {
    const start = performance.now();
    this.#inFlight.inc({ webhook });
    return (status) => {
      this.#inFlight.dec({ webhook });
      this.#latency.observe({ webhook }, (performance.now() - start) / 1000);
      this.#requests.inc({ webhook, code: status ?? '<error>' });
    };
  }

  panicked(): void {
    this.#panics.inc();
  }

  certificateRead(isUsable: boolean): void {
    this.#reads.inc();
    if (!isUsable) this.#readErrors.inc();
  }
}
