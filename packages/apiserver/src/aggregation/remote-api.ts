import type { Duplex } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { ClientError, type Transport } from '@asterism/client';
import { type APIServiceCondition, failure } from '@asterism/machinery';
import type { RemoteVersion } from '../discovery/group-catalog.ts';
import { frontProxyHeaders } from '../forward/caller-headers.ts';
import { checkPath } from '../forward/forwarded-request.ts';
import { type Relay, relayFailure, relayRequest } from '../forward/relay-request.ts';
import { relayUpgrade } from '../forward/relay-upgrade.ts';
import { answerText } from '../http/answer/answer.ts';
import type { ExtensionContext } from '../http/extension/api-extension.ts';
import type { ApiResponse } from '../contract/api-request.ts';
import { isLongRunning } from '../contract/request-info.ts';
import { refuseUpgrade } from '../http/wire/upgrade.ts';
import type { RemoteDescription } from '../openapi/remote-description.ts';
import type { AggregationOptions } from './aggregation-options.ts';
import type { RemoteApiService } from './api-service.ts';
import { CHECKER } from './fetch-json.ts';
import { type FetchedDiscovery, fetchDiscovery } from './fetch-discovery.ts';
import { describeRemote, type FetchedOpenApi, fetchOpenApi } from './fetch-open-api.ts';
import { locateService, type LocateOptions } from './locate-service.ts';
import { RemoteTransports } from './remote-transports.ts';

/** Whether it answers is looked at so often, as upstream; what it says of itself is read again after twice that. */
const CHECK_MS = 30_000;
const REFRESH_MS = 60_000;
const FIRST_RETRY_MS = 250;
const CHECK_TIMEOUT_MS = 5_000;

export type Availability = Pick<APIServiceCondition, 'status' | 'reason' | 'message'>;

export interface RemoteApiOptions extends LocateOptions {
  proxyClient: AggregationOptions['proxyClient'];
  /** What discovery and OpenAPI say of it is different now. */
  onChange(): void;
  /** Told after each look at it. */
  onChecked(service: RemoteApiService, availability: Availability): Promise<void>;
  onError(what: string, error: unknown): void;
}

/**
 * A group-version that another server serves.
 *
 * R1 Nothing is sent to it but while it answers: requests are refused with 503 meanwhile.
 * R2 It is told who calls by the front proxy's headers alone; what the caller himself says there is dropped.
 * R3 What it said last of its resources stays known while it is away, marked as stale.
 */
export class RemoteApi {
  service: RemoteApiService;
  readonly #options: RemoteApiOptions;
  readonly #ended = new AbortController();
  #transports: RemoteTransports;
  #isAvailable: boolean;
  #discovery: FetchedDiscovery | undefined;
  #isStale = true;
  #openApi: { fetched: FetchedOpenApi; description: RemoteDescription | undefined } | undefined;
  #refreshed = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #again = false;

  constructor(service: RemoteApiService, options: RemoteApiOptions) {
    this.service = service;
    this.#options = options;
    this.#transports = new RemoteTransports(service, options.proxyClient);
    // It was before a restart: the first look at it is not waited for.
    this.#isAvailable = service.available?.status === 'True';
  }

  /** For discovery. */
  get version(): RemoteVersion {
    const { group, version, groupPriority, versionPriority } = this.service;
    const freshness = this.#isStale ? 'Stale' : 'Current';
    return { group, version, groupPriority, versionPriority, resources: this.#discovery?.resources ?? [], freshness };
  }

  get description(): RemoteDescription | undefined {
    return this.#openApi?.description;
  }

  /** Looks at it now. */
  wake(): void {
    if (this.#ended.signal.aborted) return;
    if (this.#running !== undefined) {
      this.#again = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#running = this.#run();
  }

  /** Takes over a new form of its object. */
  update(service: RemoteApiService): void {
    const before = this.service;
    this.service = service;
    const backend = ({ uid, service: at, caBundle, insecureSkipTlsVerify }: RemoteApiService): object => {
      return { uid, at, caBundle, insecureSkipTlsVerify };
    };
    if (!isDeepStrictEqual(backend(before), backend(service))) {
      this.#transports.close();
      this.#transports = new RemoteTransports(service, this.#options.proxyClient);
      this.#isAvailable = false;
      this.#discovery = this.#discovery && { ...this.#discovery, etag: undefined };
      this.#openApi = undefined;
      this.#become({ isStale: true });
      this.#refreshed = Number.NEGATIVE_INFINITY;
      this.#failures = 0;
      this.wake();
      return;
    }
    if (before.groupPriority !== service.groupPriority || before.versionPriority !== service.versionPriority) {
      this.#options.onChange();
    }
    // Somebody else wrote it.
    if ((service.available?.status === 'True') !== this.#isAvailable) this.wake();
  }

  async handle(context: ExtensionContext): Promise<ApiResponse> {
    const relay = await this.#relay(context);
    if (relay === undefined) return unavailable();
    try {
      return await relayRequest(context, relay);
    } catch (error) {
      if (context.request.signal.aborted && !(error instanceof ClientError)) throw error;
      return this.#failed(error);
    }
  }

  async upgrade(context: ExtensionContext, socket: Duplex, head: Buffer): Promise<void> {
    const relay = await this.#relay(context);
    if (relay === undefined) return await refuseUpgrade(socket, unavailable());
    try {
      await relayUpgrade(context, relay, { socket, head });
    } catch (error) {
      await refuseUpgrade(socket, this.#failed(error));
    }
  }

  close(): void {
    this.#ended.abort(new Error(`${this.service.name} is no more`));
    clearTimeout(this.#timer);
    this.#transports.close();
  }

  /** Undefined while it is not available. Throws where the path or the caller cannot be passed on. */
  async #relay({ request, user, verb, resource, subresource = '' }: ExtensionContext): Promise<Relay | undefined> {
    if (!this.#isAvailable) return undefined;
    checkPath(request.path);
    const location = await locateService(this.#options, this.service.service);
    if (!('address' in location) || this.#ended.signal.aborted) return undefined;
    const search = request.query.toString();
    return {
      transport: this.#transports.to(location.address),
      path: search === '' ? request.path : `${request.path}?${search}`,
      headers: frontProxyHeaders(user),
      long: isLongRunning({ verb, subresource, isResource: resource !== '' }),
    };
  }

  #failed(error: unknown): ApiResponse {
    const answer = relayFailure(`the API server of ${this.service.name}`, error);
    if (answer instanceof Error) throw answer;
    this.wake();
    return answer;
  }

  async #run(): Promise<void> {
    try {
      do {
        this.#again = false;
        await this.#look();
      } while (this.#again && !this.#ended.signal.aborted);
    } catch (error) {
      this.#failures++;
      if (!this.#ended.signal.aborted) this.#options.onError(this.service.name, error);
    }
    this.#running = undefined;
    if (this.#ended.signal.aborted) return;
    const wait = this.#failures === 0 ? CHECK_MS : Math.min(FIRST_RETRY_MS * 2 ** (this.#failures - 1), CHECK_MS);
    this.#timer = setTimeout(() => this.wake(), wait);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const transports = this.#transports;
    const { availability, transport } = await this.#check();
    if (this.#ended.signal.aborted) return;
    if (transports !== this.#transports) {
      this.#again = true;
      return;
    }
    this.#isAvailable = availability.status === 'True';
    this.#failures = this.#isAvailable ? 0 : this.#failures + 1;
    if (transport !== undefined && this.#isAvailable) await this.#refresh(transport);
    else if (!this.#isStale) this.#become({ isStale: true });
    await this.#options.onChecked(this.service, availability);
  }

  async #check(): Promise<{ availability: Availability; transport?: Transport }> {
    const { group, version, service } = this.service;
    const location = await locateService(this.#options, service);
    if (!('address' in location)) return { availability: { status: 'False', ...location } };
    const path = `/apis/${group}/${version}`;
    try {
      const transport = this.#transports.to(location.address);
      const signal = AbortSignal.any([this.#ended.signal, AbortSignal.timeout(CHECK_TIMEOUT_MS)]);
      const { status, body } = await transport.request({
        method: 'GET',
        path,
        headers: { accept: 'application/json', ...frontProxyHeaders(CHECKER) },
        signal,
      });
      body.destroy();
      if (status < 200 || status > 299) throw new Error(`bad status from ${path}: ${status}`);
      return { availability: { status: 'True', reason: 'Passed', message: 'all checks passed' }, transport };
    } catch (error) {
      const { host, port } = location.address;
      const url = `https://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;
      const message = `failing or missing response from ${url}: ${error instanceof Error ? error.message : 'no answer'}`;
      return { availability: { status: 'False', reason: 'FailedDiscoveryCheck', message } };
    }
  }

  async #connect(): Promise<Transport> {
    const location = await locateService(this.#options, this.service.service);
    if ('address' in location) return this.#transports.to(location.address);
    throw failure(503, location.message);
  }

  /** What it says of its resources and schemas, if that is not known well enough. */
  async #refresh(transport: Transport): Promise<void> {
    const now = performance.now();
    if (!this.#isStale && now - this.#refreshed < REFRESH_MS) return;
    const { group, version } = this.service;
    const from = { transport, signal: this.#ended.signal };
    const at = { group, version };
    try {
      const discovery = await fetchDiscovery(from, at, this.#discovery);
      this.#become({ isStale: false, ...(discovery === undefined ? {} : { discovery }) });
    } catch (error) {
      this.#become({ isStale: true });
      throw error;
    }
    const fetched = await fetchOpenApi(from, at, this.#openApi?.fetched);
    const isNew = fetched.swaggerHash !== this.#openApi?.fetched.swaggerHash;
    if (isNew || fetched.version3?.hash !== this.#openApi?.fetched.version3?.hash) {
      this.#openApi = { fetched, description: describeRemote(fetched, { ...at, connect: () => this.#connect() }) };
      this.#options.onChange();
    }
    this.#refreshed = now;
  }

  #become({
    isStale,
    discovery = this.#discovery,
  }: {
    isStale: boolean;
    discovery?: FetchedDiscovery | undefined;
  }): void {
    const isSame = isStale === this.#isStale && isDeepStrictEqual(discovery, this.#discovery);
    this.#isStale = isStale;
    this.#discovery = discovery;
    if (!isSame) this.#options.onChange();
  }
}

function unavailable(): ApiResponse {
  return answerText(503, 'service unavailable\n');
}
