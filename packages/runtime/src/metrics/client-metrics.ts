import type { Transport, TransportRequest, TransportResponse, UpgradeResponse } from '@asterism/client';
import { Histogram, type Registry } from 'prom-client';
import { ClusterCounter } from './cluster-counter.ts';
import { type ClusterLabels, OTHER_CLUSTERS } from './cluster-labels.ts';

/** Seconds; client-go's. */
const BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/** What a process asks of API servers, in client-go's names, with the label `cluster`. */
export class ClientMetrics {
  readonly #labels: ClusterLabels;
  readonly #requests: ClusterCounter;
  readonly #durations: Histogram;
  /** By cluster, the verbs that were timed. */
  readonly #timed = new Map<string, Map<string, Record<string, string>>>();

  constructor(registry: Registry, labels: ClusterLabels) {
    this.#labels = labels;
    const help = 'Requests by method, host and HTTP status; <error> is one that had no answer.';
    this.#requests = new ClusterCounter(registry, 'rest_client_requests_total', help, ['code', 'method', 'host']);
    this.#durations = new Histogram({
      name: 'rest_client_request_duration_seconds',
      help: 'How long the head of the answer took. Watches and other streams are not timed.',
      labelNames: ['verb', 'host', 'cluster'],
      buckets: BUCKETS,
      registers: [registry],
    });
  }

  transport(transport: Transport, cluster: string): Transport {
    const host = hostOf(transport);
    const counted = async <R extends TransportResponse | UpgradeResponse>(
      request: TransportRequest,
      send: () => Promise<R>,
    ): Promise<R> => {
      const start = performance.now();
      let code = '<error>';
      try {
        const response = await send();
        code = String(response.status);
        return response;
      } finally {
        this.#count(cluster, host, request, code, performance.now() - start);
      }
    };
    return {
      ...(transport.server === undefined ? {} : { server: transport.server }),
      request: (request) => counted(request, () => transport.request(request)),
      upgrade: (request) => counted({ ...request, long: true }, () => transport.upgrade(request)),
      close: () => transport.close(),
      [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
    };
  }

  /** Takes a label's series away. */
  forget(cluster: string): void {
    this.#requests.forget(cluster);
    for (const labels of this.#timed.get(cluster)?.values() ?? []) this.#durations.remove(labels);
    this.#timed.delete(cluster);
  }

  #count(name: string, hostName: string, { method, long }: TransportRequest, code: string, ms: number): void {
    const cluster = this.#labels.of(name);
    // A host for each cluster would have no bound either.
    const host = cluster === OTHER_CLUSTERS ? OTHER_CLUSTERS : hostName;
    this.#requests.inc(cluster, { code, method, host });
    if (long) return;
    const labels = { verb: method, host, cluster };
    this.#durations.observe(labels, ms / 1000);
    const timed = this.#timed.get(cluster) ?? new Map<string, Record<string, string>>();
    this.#timed.set(cluster, timed.set(`${method}\n${host}`, labels));
  }
}

/** `host:port`, or the name of what is no URL. */
function hostOf({ server = '' }: Transport): string {
  return URL.canParse(server) ? new URL(server).host : server;
}
