import { createTransport, type HttpTransport, type Transport } from '@asterism/client';
import type { AggregationOptions, ServiceAddress } from './aggregation-options.ts';
import type { RemoteApiService } from './api-service.ts';

/** As upstream gives any request that is not long by nature. */
const RESPONSE_TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** Endpoints come and go; connections to more addresses than this are of the past. */
const MAX_ADDRESSES = 16;

/** The connections to one server behind this one, with the certificate by which it may name callers. */
export class RemoteTransports {
  readonly #service: RemoteApiService;
  readonly #proxyClient: AggregationOptions['proxyClient'];
  readonly #byAddress = new Map<string, HttpTransport>();

  constructor(service: RemoteApiService, proxyClient: AggregationOptions['proxyClient']) {
    this.#service = service;
    this.#proxyClient = proxyClient;
  }

  /** Throws a `ClientError` where its authorities cannot be read. */
  to({ host, port }: ServiceAddress): Transport {
    const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
    const known = this.#byAddress.get(server);
    if (known !== undefined) return known;
    const { caBundle, insecureSkipTlsVerify, service } = this.#service;
    const transport = createTransport(
      {
        server,
        ...(caBundle === '' ? {} : { caData: caBundle }),
        insecureSkipTlsVerify,
        tlsServerName: `${service.name}.${service.namespace}.svc`,
        credential: this.#proxyClient === undefined ? { kind: 'none' } : { kind: 'certificate', ...this.#proxyClient },
      },
      { responseTimeoutMs: RESPONSE_TIMEOUT_MS, connectTimeoutMs: CONNECT_TIMEOUT_MS },
    );
    this.#byAddress.set(server, transport);
    const [oldest] = this.#byAddress;
    if (this.#byAddress.size > MAX_ADDRESSES && oldest !== undefined) {
      this.#byAddress.delete(oldest[0]);
      void oldest[1].close();
    }
    return transport;
  }

  /** Ends every connection, and what runs on it. */
  close(): void {
    for (const transport of this.#byAddress.values()) void transport.close();
    this.#byAddress.clear();
  }
}
