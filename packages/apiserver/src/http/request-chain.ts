import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { isStatusError } from '@asterism/machinery';
import type { ServerLogger } from '../api-server-options.ts';
import type { RequestAuthenticator } from '../authentication/authenticator.ts';
import { attributesOf, impersonate } from '../authentication/impersonation.ts';
import { SYSTEM_MASTERS, type UserInfo } from '../authentication/user-info.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import { forbiddenError } from '../authorization/forbidden-error.ts';
import { answerStatus, resourceNotServed, statusOf } from './answer.ts';
import type { ApiCall } from './api-call.ts';
import { type ApiRequest, type ApiResponse, isPushed } from './api-request.ts';
import { compress } from './compress.ts';
import type { ExtensionRouter } from './extension-router.ts';
import type { FairSeats, Leave } from './fair-seats.ts';
import type { Metrics, RequestLabels } from './metrics.ts';
import { type Encoding, negotiate } from './negotiate.ts';
import { type RequestInfo, requestInfo } from './request-info.ts';
import type { ResourceHandler } from './resource-handler.ts';
import { tapEnd } from './tap-end.ts';
import { refuseUpgrade } from './upgrade.ts';
import { WarningList } from './warning-list.ts';

const LONG_SUBRESOURCES = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

export interface RequestChainOptions {
  authenticate: RequestAuthenticator;
  authorizer: Authorizer;
  extensions: ExtensionRouter;
  resources: Pick<ResourceHandler, 'serves' | 'handle'>;
  /** Answers paths that name no resource. */
  paths: (call: ApiCall) => Promise<ApiResponse>;
  seats: FairSeats;
  metrics: Metrics;
  logger: ServerLogger | undefined;
  /** Milliseconds. */
  clock: () => number;
}

/** Of a server that serves extensions alone. */
export const NO_RESOURCES: RequestChainOptions['resources'] = {
  serves: () => false,
  handle: () => Promise.reject(resourceNotServed()),
};

/**
 * The way of every request, whatever carried it: who is it (authentication, impersonation), may he (authorization), and to
 * whom does it go (extension, resource, path). In upstream's order, so that a refusal says no more than upstream's.
 */
export class RequestChain {
  readonly #options: RequestChainOptions;
  /** What aborts each of them. */
  readonly #longRunning = new Set<() => void>();

  constructor(options: RequestChainOptions) {
    this.#options = options;
  }

  /** Never rejects: every failure is an answer. */
  async handle(request: ApiRequest): Promise<ApiResponse> {
    const started = this.#options.clock();
    const trace = new RequestTrace(request);
    let response: ApiResponse;
    try {
      response = await this.#answer(request, trace);
    } catch (error) {
      response = await this.#answerError(error, request, trace);
    }
    response.headers['audit-id'] = trace.auditId;
    response.headers['cache-control'] ??= 'no-cache, private';
    const warnings = trace.warnings.headers();
    if (warnings.length > 0) {
      const passedOn = [response.headers.warning ?? []].flat();
      response.headers.warning = [...passedOn, ...warnings];
    }
    const seconds = trace.isLong ? undefined : (this.#options.clock() - started) / 1000;
    this.#options.metrics.requestEnded(trace.labels(), response.status, seconds);
    return response;
  }

  /** An HTTP/1.1 Upgrade: goes to the extension that takes it, or is refused with an answer. Never rejects. */
  async upgrade(request: ApiRequest, socket: Duplex, head: Buffer): Promise<void> {
    const trace = new RequestTrace(request);
    try {
      const call = await this.#admit(request, trace);
      const resource = this.#options.extensions.find(call.info)?.resource;
      if (resource?.upgrade === undefined) {
        await refuseUpgrade(socket, await this.handle(request));
        return;
      }
      trace.isServed = true;
      this.#options.metrics.requestEnded(trace.labels(), 101, undefined);
      await resource.upgrade(this.#options.extensions.contextOf(call), socket, head);
    } catch (error) {
      await refuseUpgrade(socket, await this.#answerError(error, request, trace));
    }
  }

  /** Ends watches and other long requests; the rest is left to finish. */
  endLongRequests(): void {
    for (const abort of this.#longRunning) abort();
  }

  async #answer(request: ApiRequest, trace: RequestTrace): Promise<ApiResponse> {
    const { extensions, paths, resources } = this.#options;
    const info = requestInfo(request.method, request.path, request.query);
    trace.info = info;
    trace.isLong = isLongRunning(info);
    const extension = extensions.find(info);
    trace.isServed = extension?.resource !== undefined || resources.serves(info);
    const user = await this.#identify(request, info, trace);
    const work = trace.isLong ? this.#startLong(request, trace) : await this.#startShort(request, user, info);
    try {
      await this.#authorize(user, info);
      const call: ApiCall = { request: work.request, info, user, warn: (text) => trace.warn(text) };
      const response = await (extension !== undefined
        ? extensions.handle(extension, call)
        : info.isResource
          ? resources.handle(call)
          : paths(call));
      return endingWith(trace.isLong ? { ...response, openEnded: true } : await compress(request, response), work.end);
    } catch (error) {
      work.end();
      throw error;
    }
  }

  async #admit(request: ApiRequest, trace: RequestTrace): Promise<ApiCall> {
    const info = requestInfo(request.method, request.path, request.query);
    trace.info = info;
    trace.isLong = true;
    const user = await this.#identify(request, info, trace);
    await this.#authorize(user, info);
    return { request, info, user, warn: (text) => trace.warn(text) };
  }

  async #identify(request: ApiRequest, info: RequestInfo, trace: RequestTrace): Promise<UserInfo> {
    const user = request.user ?? (await this.#options.authenticate(request, (text) => trace.warn(text)));
    return await impersonate(user, request.headers, info, this.#options.authorizer);
  }

  async #authorize(user: UserInfo, info: RequestInfo): Promise<void> {
    if (this.#options.extensions.find(info)?.resource?.authorization === 'handler') return;
    const attributes = attributesOf(user, info);
    const { allowed, reason } = await this.#options.authorizer.authorize(attributes);
    if (!allowed) throw forbiddenError(attributes, reason);
  }

  /** Takes a seat, until its answer has left. Administrators need none: they are to get in when it is crowded. */
  async #startShort(request: ApiRequest, user: UserInfo, info: RequestInfo): Promise<Work> {
    const { metrics } = this.#options;
    const leave = user.groups.includes(SYSTEM_MASTERS) ? undefined : await this.#takeSeat(request, user);
    const kind = isMutating(info.verb) ? 'mutating' : 'readOnly';
    metrics.inFlight(kind, 1);
    const end = once(() => {
      leave?.();
      metrics.inFlight(kind, -1);
    });
    return { request, end };
  }

  async #takeSeat(request: ApiRequest, { username }: UserInfo): Promise<Leave> {
    try {
      return await this.#options.seats.enter(username, () => request.signal);
    } catch (error) {
      if (isStatusError(error, 'TooManyRequests')) this.#options.metrics.refusedAsTooMany();
      throw error;
    }
  }

  /** Has a long request aborted when the server ends, and counts it for as long as its body runs. */
  #startLong(given: ApiRequest, trace: RequestTrace): Work {
    const request = given.abort === undefined ? abortable(given) : given;
    const { abort } = request as ReturnType<typeof abortable>;
    this.#longRunning.add(abort);
    const labels = trace.labels();
    this.#options.metrics.longRunning(labels, 1);
    const end = once(() => {
      this.#longRunning.delete(abort);
      this.#options.metrics.longRunning(labels, -1);
    });
    return { request, end };
  }

  async #answerError(error: unknown, request: ApiRequest, trace: RequestTrace): Promise<ApiResponse> {
    const status = statusOf(error);
    if (!isStatusError(error) && !request.signal.aborted) {
      const fields = { err: error, method: request.method, path: request.path, auditId: trace.auditId };
      this.#options.logger?.error(fields, 'a request failed inside the server');
    }
    return await answerStatus(status.status, errorEncoding(request));
  }
}

/** A request under way. `end` is to be called when its answer has left, or there is none. */
interface Work {
  request: ApiRequest;
  end: () => void;
}

function abortable(request: ApiRequest): ApiRequest & { abort: () => void } {
  const controller = new AbortController();
  const signal = AbortSignal.any([request.signal, controller.signal]);
  return { ...request, signal, abort: () => controller.abort() };
}

function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    act();
  };
}

/** The answer, and `end` called when its body has been read or left. */
function endingWith(response: ApiResponse, end: () => void): ApiResponse {
  const { body } = response;
  if (body === undefined || body instanceof Uint8Array) {
    end();
    return response;
  }
  if (!isPushed(body)) return { ...response, body: tapEnd(body, end) };
  body.onEnd(end);
  return response;
}

/** What is learned of a request on its way. */
class RequestTrace {
  readonly auditId: string;
  readonly warnings = new WarningList();
  info: RequestInfo | undefined;
  isLong = false;
  /** Only then the resource's name stands in metrics: anybody can make up others. */
  isServed = false;

  constructor(request: ApiRequest) {
    const given = request.headers['audit-id'];
    this.auditId = typeof given === 'string' && /^[\w-]{1,64}$/.test(given) ? given : newAuditId();
  }

  warn(text: string): void {
    this.warnings.add(text);
  }

  labels(): RequestLabels {
    const { info } = this;
    if (info === undefined || !this.isServed) {
      return { verb: '', group: '', version: '', resource: '', subresource: '', scope: '' };
    }
    const scope = info.named ? 'resource' : info.namespace === '' ? 'cluster' : 'namespace';
    const { group, version, resource, subresource, verb } = info;
    return { verb: verb.toUpperCase(), group, version, resource, subresource, scope };
  }
}

/** As one string: what Node puts together from twenty parts would be kept as these, 450 bytes, for as long as a watch lasts. */
function newAuditId(): string {
  const id = randomUUID();
  return id.includes('-') ? id : '';
}

function isLongRunning({ verb, subresource, isResource }: RequestInfo): boolean {
  return isResource && (verb === 'watch' || LONG_SUBRESOURCES.has(subresource));
}

function isMutating(verb: string): boolean {
  return verb !== 'get' && verb !== 'list' && verb !== 'watch' && verb !== 'head';
}

/** An error comes in the encoding of other answers; for those who ask for what is not on offer, as JSON. */
function errorEncoding({ headers }: ApiRequest): Encoding {
  try {
    return negotiate(headers.accept, { encodings: ['json', 'yaml', 'protobuf'], transforms: [] }).encoding;
  } catch {
    return 'json';
  }
}
