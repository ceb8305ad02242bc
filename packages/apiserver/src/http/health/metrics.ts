import { wallNow } from '@asterism/client';
import type { VersionInfo } from './version-info.ts';

/** Seconds; the upper bounds that upstream uses for request durations, thinned out. */
const DURATION_BUCKETS = [0.005, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export type Labels = Readonly<Record<string, string>>;

interface Histogram {
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

/** What is counted of requests that have the same labels but for the code. */
interface RequestSeries {
  labels: RequestLabels;
  byCode: Map<number, number>;
  /** Undefined while there was none that is not long by nature. */
  durations: Histogram | undefined;
  longRunning: number | undefined;
}

/** The server's own numbers, written in Prometheus' text format (0.0.4). */
export class Metrics {
  readonly #requests = new Map<string, RequestSeries>();
  readonly #watchEvents = new Map<string, { labels: Labels; count: number }>();
  readonly #inFlight = { readOnly: 0, mutating: 0 };
  readonly #further: (() => readonly string[])[] = [];
  #tooManyRequests = 0;

  /** Lines that somebody else writes, asked for with each reading. */
  include(lines: () => readonly string[]): void {
    this.#further.push(lines);
  }

  /** `seconds` are not counted for requests that are long by nature. */
  requestEnded(labels: RequestLabels, code: number, seconds: number | undefined): void {
    const series = this.#seriesOf(labels);
    series.byCode.set(code, (series.byCode.get(code) ?? 0) + 1);
    if (seconds === undefined) return;
    const histogram = (series.durations ??= { counts: DURATION_BUCKETS.map(() => 0), sum: 0, count: 0 });
    const bucket = DURATION_BUCKETS.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) histogram.counts[bucket]!++;
    histogram.sum += seconds;
    histogram.count++;
  }

  inFlight(kind: 'readOnly' | 'mutating', change: 1 | -1): void {
    this.#inFlight[kind] += change;
  }

  longRunning(labels: RequestLabels, change: 1 | -1): void {
    const series = this.#seriesOf(labels);
    series.longRunning = (series.longRunning ?? 0) + change;
  }

  watchEvents(group: string, version: string, resource: string, count: number): void {
    const key = `${group}\n${version}\n${resource}`;
    const events = this.#watchEvents.get(key);
    if (events === undefined) this.#watchEvents.set(key, { labels: { group, version, resource }, count });
    else events.count += count;
  }

  refusedAsTooMany(): void {
    this.#tooManyRequests++;
  }

  /**
   * @param gauges read by the caller at this moment
   * @param build what the server says of its version
   */
  write(gauges: Readonly<Record<string, number>>, build: Readonly<VersionInfo>): string {
    const lines: string[] = [];
    const metric = (name: string, type: string, help: string): void => {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    };
    const series = [...this.#requests.values()].map((each) => {
      const labels = upstreamLabels(each.labels);
      return { ...each, labels, text: formatLabels(labels) };
    });
    metric('apiserver_request_total', 'counter', 'Requests by verb, resource and HTTP code.');
    for (const { labels, byCode } of series) {
      for (const [code, value] of byCode) {
        lines.push(`apiserver_request_total${formatLabels({ ...labels, code: String(code) })} ${value}`);
      }
    }
    metric('apiserver_request_duration_seconds', 'histogram', 'Duration of requests that are not long-running.');
    for (const { text, durations } of series) if (durations) lines.push(...writeHistogram(text, durations));
    metric('apiserver_longrunning_requests', 'gauge', 'Watches and connections that are open now.');
    for (const { text, longRunning } of series) {
      if (longRunning !== undefined) lines.push(`apiserver_longrunning_requests${text} ${longRunning}`);
    }
    metric('apiserver_watch_events_total', 'counter', 'Events sent to watchers.');
    for (const { labels, count } of this.#watchEvents.values()) {
      lines.push(`apiserver_watch_events_total${formatLabels(labels)} ${count}`);
    }
    metric('apiserver_current_inflight_requests', 'gauge', 'Requests that are served now, without long-running ones.');
    for (const [kind, value] of Object.entries(this.#inFlight)) {
      lines.push(`apiserver_current_inflight_requests${formatLabels({ request_kind: kind })} ${value}`);
    }
    metric('apiserver_dropped_requests_total', 'counter', 'Requests refused with 429.');
    lines.push(`apiserver_dropped_requests_total ${this.#tooManyRequests}`);
    for (const further of this.#further) lines.push(...further());
    metric('kubernetes_build_info', 'gauge', 'Always 1; its labels tell the version.');
    lines.push(`kubernetes_build_info${formatLabels(buildLabels(build))} 1`);
    for (const [name, value] of Object.entries(gauges)) {
      lines.push(`# TYPE ${name} ${name.endsWith('_total') ? 'counter' : 'gauge'}`, `${name} ${value}`);
    }
    return `${lines.join('\n')}\n`;
  }

  /** Labels become text when the numbers are read, not with each request. */
  #seriesOf(labels: RequestLabels): RequestSeries {
    const { verb, group, version, resource, subresource, scope } = labels;
    const key = `${verb}\n${group}\n${version}\n${resource}\n${subresource}\n${scope}`;
    let series = this.#requests.get(key);
    if (series === undefined) {
      series = { labels, byCode: new Map(), durations: undefined, longRunning: undefined };
      this.#requests.set(key, series);
    }
    return series;
  }
}

/** The verbs of HTTP, where upstream's metrics say those. */
const VERBS: Readonly<Record<string, string>> = { CREATE: 'POST', UPDATE: 'PUT' };

function upstreamLabels(labels: RequestLabels): Labels {
  return { component: 'apiserver', ...labels, verb: VERBS[labels.verb] ?? labels.verb };
}

function buildLabels(build: Readonly<VersionInfo>): Labels {
  const { major, minor, gitVersion, gitCommit, gitTreeState, buildDate, goVersion, compiler, platform } = build;
  return {
    major,
    minor,
    git_version: gitVersion,
    git_commit: gitCommit,
    git_tree_state: gitTreeState,
    build_date: buildDate,
    go_version: goVersion,
    compiler,
    platform,
  };
}

/** What any process tells of itself, in the names of Prometheus' client libraries. */
export function processGauges(): Record<string, number> {
  const { user, system } = process.cpuUsage();
  return {
    process_resident_memory_bytes: process.memoryUsage.rss(),
    process_cpu_seconds_total: (user + system) / 1e6,
    process_start_time_seconds: Math.round(wallNow() / 1000 - process.uptime()),
  };
}

function writeHistogram(labels: string, { counts, sum, count }: Histogram): string[] {
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

/** `{name="value",...}` of the text format. */
export function formatLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, escapeLabel)}"`);
  return `{${pairs.join(',')}}`;
}

function escapeLabel(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`;
}
