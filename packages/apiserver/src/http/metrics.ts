/** Seconds; the upper bounds that upstream uses for request durations, thinned out. */
const DURATION_BUCKETS = [0.005, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export type Labels = Readonly<Record<string, string>>;

interface Histogram {
  labels: string;
  counts: number[];
  sum: number;
  count: number;
}

/** Which request it was, for the metrics named as upstream's `apiserver_request_*`. */
export interface RequestLabels {
  verb: string;
  group: string;
  version: string;
  resource: string;
  subresource: string;
  scope: string;
}

/** The server's own numbers, written in Prometheus' text format (0.0.4). */
export class Metrics {
  readonly #requests = new Map<string, number>();
  readonly #durations = new Map<string, Histogram>();
  readonly #longRunning = new Map<string, number>();
  readonly #watchEvents = new Map<string, number>();
  readonly #inFlight = { readOnly: 0, mutating: 0 };
  #tooManyRequests = 0;

  /** `seconds` are not counted for requests that are long by nature. */
  requestEnded(labels: RequestLabels, code: number, seconds: number | undefined): void {
    increase(this.#requests, formatLabels({ ...labels, code: String(code) }), 1);
    if (seconds === undefined) return;
    const key = formatLabels({ ...labels });
    let histogram = this.#durations.get(key);
    if (histogram === undefined) {
      histogram = { labels: key, counts: DURATION_BUCKETS.map(() => 0), sum: 0, count: 0 };
      this.#durations.set(key, histogram);
    }
    const bucket = DURATION_BUCKETS.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) histogram.counts[bucket]!++;
    histogram.sum += seconds;
    histogram.count++;
  }

  inFlight(kind: 'readOnly' | 'mutating', change: 1 | -1): void {
    this.#inFlight[kind] += change;
  }

  longRunning(labels: RequestLabels, change: 1 | -1): void {
    increase(this.#longRunning, formatLabels({ ...labels }), change);
  }

  watchEvents(group: string, version: string, resource: string, count: number): void {
    increase(this.#watchEvents, formatLabels({ group, version, resource }), count);
  }

  refusedAsTooMany(): void {
    this.#tooManyRequests++;
  }

  /** `gauges` are read by the caller at this moment. */
  write(gauges: Readonly<Record<string, number>>): string {
    const lines: string[] = [];
    const metric = (name: string, type: string, help: string): void => {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    };
    metric('apiserver_request_total', 'counter', 'Requests by verb, resource and HTTP code.');
    for (const [labels, value] of this.#requests) lines.push(`apiserver_request_total${labels} ${value}`);
    metric('apiserver_request_duration_seconds', 'histogram', 'Duration of requests that are not long-running.');
    for (const histogram of this.#durations.values()) lines.push(...writeHistogram(histogram));
    metric('apiserver_longrunning_requests', 'gauge', 'Watches and connections that are open now.');
    for (const [labels, value] of this.#longRunning) lines.push(`apiserver_longrunning_requests${labels} ${value}`);
    metric('apiserver_watch_events_total', 'counter', 'Events sent to watchers.');
    for (const [labels, value] of this.#watchEvents) lines.push(`apiserver_watch_events_total${labels} ${value}`);
    metric('apiserver_current_inflight_requests', 'gauge', 'Requests that are served now, without long-running ones.');
    for (const [kind, value] of Object.entries(this.#inFlight)) {
      lines.push(`apiserver_current_inflight_requests${formatLabels({ request_kind: kind })} ${value}`);
    }
    metric('apiserver_dropped_requests_total', 'counter', 'Requests refused with 429.');
    lines.push(`apiserver_dropped_requests_total ${this.#tooManyRequests}`);
    for (const [name, value] of Object.entries(gauges)) {
      lines.push(`# TYPE ${name} ${name.endsWith('_total') ? 'counter' : 'gauge'}`, `${name} ${value}`);
    }
    return `${lines.join('\n')}\n`;
  }
}

/** What any process tells of itself, in the names of Prometheus' client libraries. */
export function processGauges(): Record<string, number> {
  const { user, system } = process.cpuUsage();
  return {
    process_resident_memory_bytes: process.memoryUsage.rss(),
    process_cpu_seconds_total: (user + system) / 1e6,
    process_start_time_seconds: Math.round(Date.now() / 1000 - process.uptime()),
  };
}

function writeHistogram({ labels, counts, sum, count }: Histogram): string[] {
  const name = 'apiserver_request_duration_seconds';
  const withBound = (bound: string): string => `${labels.slice(0, -1)},le="${bound}"}`;
  let below = 0;
  const buckets = DURATION_BUCKETS.map((bound, index) => {
    below += counts[index]!;
    return `${name}_bucket${withBound(String(bound))} ${below}`;
  });
  return [
    ...buckets,
    `${name}_bucket${withBound('+Inf')} ${count}`,
    `${name}_sum${labels} ${sum}`,
    `${name}_count${labels} ${count}`,
  ];
}

function increase(map: Map<string, number>, key: string, by: number): void {
  map.set(key, (map.get(key) ?? 0) + by);
}

function formatLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, escapeLabel)}"`);
  return `{${pairs.join(',')}}`;
}

function escapeLabel(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`;
}
