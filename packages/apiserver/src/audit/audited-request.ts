import type { KubeObject, Status } from '@asterism/machinery';
import type { UserInfo } from '../contract/user-info.ts';
import { firstHeader } from '../contract/first-header.ts';
import type { AuditedCall } from '../http/extension/api-extension.ts';
import type { ApiRequest, ApiResponse } from '../contract/api-request.ts';
import type { RequestInfo } from '../contract/request-info.ts';
import { type AuditEvent, describeUser, type ResponseStatus } from './audit-event.ts';
import type { AuditStage } from './audit-policy.ts';
import {
  type AuditedBody,
  isStatus,
  readRequestBody,
  readResponseBody,
  withoutManagedFields,
  withoutTokens,
} from './audited-body.ts';
import { keepPieces } from './keep-pieces.ts';
import type { AuditConfig } from './match-rule.ts';

/** A longer answer is left out of its event, which says so. */
const MAX_RESPONSE_BYTES = 10 * 1024 * 1024;
/** What upstream's events say where something was left out. */
const TRUNCATED = 'audit.k8s.io/truncated';

export interface AuditedRequestOptions {
  request: ApiRequest;
  info: RequestInfo;
  event: AuditEvent;
  config: AuditConfig;
  /** A watch or a connection: its start is an event too. */
  isLong: boolean;
  /** Takes the event as it is at this moment, at the given time (microseconds; default now). */
  emit(stage: AuditStage, at?: number): void;
  now(): number;
  /** Told of what is still under way when `ended` has returned. */
  track(work: Promise<void>): void;
}

/** What is written down of one request, from its arrival to the last byte of its answer. */
export class AuditedRequest {
  readonly #options: AuditedRequestOptions;
  readonly #event: AuditEvent;
  #requestBody: AuditedBody | undefined;
  #responseBody: (() => AuditedBody | undefined) | undefined;
  #started = false;
  #panicked = false;
  #ended = false;
  #endsSoon = false;
  readonly #atEnd: (() => Readonly<Record<string, string>>)[] = [];

  constructor(options: AuditedRequestOptions) {
    this.#options = options;
    this.#event = options.event;
    if (this.#records('Request')) this.#keepRequestBody(options.request);
  }

  impersonated(user: UserInfo): void {
    this.#event.impersonatedUser = describeUser(user);
  }

  /** What is said first stands. */
  annotate(key: string, value: string): void {
    this.#event.annotations ??= {};
    this.#event.annotations[key] ??= value;
  }

  /** What a handler may add. */
  ofHandler(): AuditedCall {
    return {
      annotate: (annotations) => this.#annotateAll(annotations),
      annotateAtEnd: (annotations) => void this.#atEnd.push(annotations),
      endsSoon: () => {
        this.#endsSoon = true;
      },
      started: (status) => this.started(status),
      ended: () => this.ended(),
    };
  }

  #annotateAll(annotations: Readonly<Record<string, string>>): void {
    for (const [key, value] of Object.entries(annotations)) this.annotate(key, value);
  }

  /** The object that was sent tells what the path does not. */
  object({ metadata }: KubeObject): void {
    const { name, namespace, uid, resourceVersion } = metadata ?? {};
    const target = (this.#event.objectRef ??= {});
    const texts = { namespace, name, uid, resourceVersion };
    for (const [field, text] of Object.entries(texts) as [keyof typeof texts, unknown][]) {
      if (typeof text === 'string' && text !== '') target[field] ??= text;
    }
  }

  /** It failed inside the server. */
  panicked(): void {
    this.#panicked = true;
  }

  /** The answer that is about to leave, to be passed on instead of the given one. */
  async answered(response: ApiResponse): Promise<ApiResponse> {
    const { status, body } = response;
    const contentType = response.headers['content-encoding']
      ? undefined
      : firstHeader(response.headers, 'content-type');
    const whole = body instanceof Uint8Array ? { bytes: body, contentType } : undefined;
    const told = whole && (await this.#readStatus(status, whole));
    this.#event.responseStatus = responseStatus(status, told);
    if (this.#options.isLong && !this.#endsSoon) this.#start();
    if (contentType === undefined || !this.#records('RequestResponse') || this.#options.isLong) return response;
    if (whole !== undefined || body === undefined) {
      this.#responseBody = () => whole;
      return response;
    }
    const kept = keepPieces(body as AsyncIterable<Uint8Array>, MAX_RESPONSE_BYTES);
    this.#responseBody = () => {
      const bytes = kept.bytes();
      if (bytes === undefined) this.annotate(TRUNCATED, 'true');
      return bytes && { bytes, contentType };
    };
    return { ...response, body: kept.body };
  }

  /** The connection is the handler's from now on. */
  switched(): void {
    this.started(101);
  }

  /** The handler of a connection answered. */
  started(code: number): void {
    this.#event.responseStatus = responseStatus(code, undefined);
    if (!this.#endsSoon) this.#start();
  }

  /** The last byte of the answer has left, or nobody takes it any more. */
  ended(): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const annotations of this.#atEnd) this.#annotateAll(annotations());
    const at = this.#options.now();
    const stage = this.#panicked ? 'Panic' : 'ResponseComplete';
    this.#event.responseStatus ??= { ...responseStatus(200, undefined), message: 'Connection closed early' };
    if (this.#requestBody === undefined && this.#responseBody === undefined) this.#options.emit(stage, at);
    else this.#options.track(this.#complete(stage, at));
  }

  async #complete(stage: AuditStage, at: number): Promise<void> {
    const response = this.#responseBody?.();
    const sent = this.#requestBody && (await readRequestBody(this.#requestBody));
    this.#event.requestObject = this.#shown(sent);
    this.#event.responseObject = this.#shown(response && (await readResponseBody(response)));
    this.#options.emit(stage, at);
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    this.#options.emit('ResponseStarted');
  }

  #shown(object: unknown): unknown {
    const { config, info } = this.#options;
    const bare = withoutTokens(object, info);
    return config.omitManagedFields ? withoutManagedFields(bare) : bare;
  }

  /** Of an error, and of a deletion, whose answer may be a Status too. */
  async #readStatus(code: number, body: AuditedBody): Promise<Status | undefined> {
    const { verb } = this.#options.info;
    if (code < 400 && verb !== 'delete' && verb !== 'deletecollection') return undefined;
    const object = await readResponseBody(body);
    return isStatus(object) ? object : undefined;
  }

  #keepRequestBody(request: ApiRequest): void {
    const read = request.body.bind(request);
    request.body = async () => {
      const bytes = await read();
      this.#requestBody = { bytes, contentType: firstHeader(request.headers, 'content-type') };
      return bytes;
    };
  }

  /** Bodies are recorded of requests for resources alone. */
  #records(level: 'Request' | 'RequestResponse'): boolean {
    const { config, info } = this.#options;
    return info.isResource && (config.level === 'RequestResponse' || config.level === level);
  }
}

function responseStatus(code: number, told: Status | undefined): ResponseStatus {
  if (told === undefined) return { metadata: {}, code };
  const { status, message, reason, details } = told;
  return {
    metadata: {},
    ...(status === undefined ? {} : { status }),
    ...(message === undefined || message === '' ? {} : { message }),
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  };
}
