import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { tapBytes } from '@asterism/client';
import { isStatusError } from '@asterism/machinery';
import type { ServerLogger } from '../contract/server-logger.ts';
import type { AuditedRequest } from '../audit/audited-request.ts';
import type { Arrival, Auditor } from '../audit/auditor.ts';
import type { RequestAuthenticator } from '../contract/authenticator.ts';
import { attributesOf, impersonate } from '../authentication/impersonation.ts';
import { SYSTEM_MASTERS, type UserInfo } from '../contract/user-info.ts';
import type { Authorizer } from '../contract/authorizer.ts';
import { forbiddenError } from '../contract/forbidden-error.ts';
import { answerStatus, resourceNotServed, statusOf } from '../http/answer/answer.ts';
import type { ApiCall } from '../http/request/api-call.ts';
import { type ApiRequest, type ApiResponse, isPushed } from '../contract/api-request.ts';
import { compress } from '../http/wire/compress.ts';
import type { ExtensionHandler, ExtensionRouter } from '../http/extension/extension-router.ts';
import type { FairSeats, Leave } from '../http/wire/fair-seats.ts';
import type { Metrics, RequestLabels } from '../http/health/metrics.ts';
import { type Encoding, negotiate } from '../http/answer/negotiate.ts';
import { isLongRunning, type RequestInfo, requestInfo } from '../contract/request-info.ts';
import type { ResourceHandler } from '../http/resource-handler.ts';
import { refuseUpgrade } from '../http/wire/upgrade.ts';
import { WarningList } from '../http/answer/warning-list.ts';

export interface RequestChainOptions {
  authenticate: RequestAuthenticator;
  authorizer: Authorizer;
  extensions: Pick<ExtensionRouter, 'contextOf' | 'find' | 'handle' | 'names'>;
  resources: Pick<ResourceHandler, 'find' | 'handle'>;
  /** Answers paths that name no resource. */
  paths: (call: ApiCall) => Promise<ApiResponse>;
  seats: FairSeats;
  metrics: Metrics;
  /** Undefined where nothing is written down. */
  auditor: Auditor | undefined;
  logger: ServerLogger | undefined;
}

/** Of a server that serves extensions alone. */
export const NO_RESOURCES: RequestChainOptions['resources'] = {
  find: () => undefined,
  handle: () => Promise.reject(resourceNotServed()),
};

/**
 * The way of every request, whatever carried it: who is it (authentication, impersonation), may he (authorization), and to
 * whom does it go (extension, resource, path). In upstream's order, so that a refusal says no more than upstream's.
 */
export class RequestChain {
  readonly #options: RequestChainOptions;
  /** What aborts each request that has no end of its own. */
  readonly #openEnded = new Set<() => void>();

  #ending = false;

  constructor(options: RequestChainOptions) {
    this.#options = options;
  }

  /** Never rejects: every failure is an answer. */
  async handle(request: ApiRequest): Promise<ApiResponse> {
    const started = performance.now();
    const trace = new RequestTrace(request, this.#options.auditor);
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
    const seconds = trace.isLong ? undefined : (performance.now() - started) / 1000;
    this.#options.metrics.requestEnded(trace.labels(), response.status, seconds);
    return response;
  }

  /** An HTTP/1.1 Upgrade: goes to the extension that takes it, or is refused with an answer. Never rejects. */
  async upgrade(request: ApiRequest, socket: Duplex, head: Buffer): Promise<void> {
    const trace = new RequestTrace(request, this.#options.auditor);
    try {
      const info = requestInfo(request.method, request.path, request.query);
      const resource = this.#options.extensions.find(info)?.resource;
      if (resource?.upgrade === undefined) {
        await refuseUpgrade(socket, await this.handle(request));
        return;
      }
      const call = await this.#admit(request, info, { extension: resource, trace });
      trace.isServed = this.#options.extensions.names({ resource });
      this.#options.metrics.requestEnded(trace.labels(), 101, undefined);
      if (!resource.auditsUpgrades) {
        trace.audit?.switched();
        socket.once('close', () => trace.audit?.ended());
      }
      await resource.upgrade(this.#options.extensions.contextOf(call), socket, head);
    } catch (error) {
      const response = await this.#answerError(error, request, trace);
      response.headers['audit-id'] = trace.auditId;
      await refuseUpgrade(socket, response);
    }
  }

  /** Ends watches and other requests without an end of their own; the rest is left to finish. */
  endLongRequests(): void {
    this.#ending = true;
    for (const abort of this.#openEnded) abort();
  }

  async #answer(request: ApiRequest, trace: RequestTrace): Promise<ApiResponse> {
    const { extensions, paths, resources } = this.#options;
    const info = requestInfo(request.method, request.path, request.query);
    trace.info = info;
    trace.isLong = isLongRunning(info);
    const extension = extensions.find(info);
    const isNamed = extensions.names(extension);
    const found = isNamed ? undefined : resources.find(info);
    trace.isServed = isNamed || (found !== undefined && (info.subresource === '' || found.subresource !== undefined));
    const user = await this.#identify(request, info, trace);
    const work = trace.isLong ? this.#startLong(request, info, trace) : await this.#startShort(request, user, info);
    try {
      await this.#authorize(request, info, { user, extension: extension?.resource, trace });
      const call = this.#callOf(work.request, info, { user, trace });
      const response = await (extension !== undefined
        ? extensions.handle(extension, call)
        : info.isResource
          ? resources.handle(call, found)
          : paths({ ...call, request: { ...call.request, path: info.path } }));
      const { audit } = trace;
      const told = audit === undefined ? response : await audit.answered(response);
      const end = audit === undefined ? work.end : inTurn(work.end, () => audit.ended());
      if (!trace.isLong) return endingWith(await compress(request, told), end);
      const { openEnded = true } = told;
      if (openEnded) work.endWithServer?.();
      return endingWith({ ...told, openEnded }, end);
    } catch (error) {
      work.end();
      throw error;
    }
  }

  async #admit(
    request: ApiRequest,
    info: RequestInfo,
    { extension, trace }: { extension: ExtensionHandler; trace: RequestTrace },
  ): Promise<ApiCall> {
    trace.info = info;
    trace.isLong = true;
    const user = await this.#identify(request, info, trace);
    await this.#authorize(request, info, { user, extension, trace });
    return this.#callOf(request, info, { user, trace });
  }

  async #identify(request: ApiRequest, info: RequestInfo, trace: RequestTrace): Promise<UserInfo> {
    const user = request.user ?? (await this.#authenticate(request, info, trace));
    trace.audit = this.#options.auditor?.begin(request, info, trace.arrival(user));
    const acting = await impersonate(user, request.headers, info, this.#options.authorizer);
    if (acting !== user) trace.audit?.impersonated(acting);
    return acting;
  }

  async #authenticate(request: ApiRequest, info: RequestInfo, trace: RequestTrace): Promise<UserInfo> {
    try {
      return await this.#options.authenticate(request, (text) => trace.warn(text));
    } catch (error) {
      if (isStatusError(error, 'Unauthorized')) this.#options.auditor?.refused(request, info, trace.arrival(undefined));
      throw error;
    }
  }

  async #authorize(
    request: ApiRequest,
    info: RequestInfo,
    { user, extension, trace }: { user: UserInfo; extension: ExtensionHandler | undefined; trace: RequestTrace },
  ): Promise<void> {
    const { audit } = trace;
    if (extension?.authorization === 'handler') return;
    const attributes = attributesOf(user, info);
    // An extension reads selectors as it likes: only a name in the path says that it answers one object.
    if (extension !== undefined && extension.isOpen !== true && !info.named) attributes.name = '';
    const { allowed, reason } = await this.#options.authorizer.authorize(attributes);
    audit?.annotate('authorization.k8s.io/decision', allowed ? 'allow' : 'forbid');
    audit?.annotate('authorization.k8s.io/reason', reason);
    if (allowed) return;
    if (extension?.refused && info.verb !== '') {
      extension.refused(this.#options.extensions.contextOf(this.#callOf(request, info, { user, trace })), reason);
    }
    throw forbiddenError(attributes, reason);
  }

  #callOf(request: ApiRequest, info: RequestInfo, { user, trace }: { user: UserInfo; trace: RequestTrace }): ApiCall {
    return { request, info, user, warn: (text) => trace.warn(text), audit: trace.audit, auditId: trace.auditId };
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

  /** Counts a long request for as long as its body runs. What is no watch may turn out to be short when it is answered. */
  #startLong(given: ApiRequest, { verb }: RequestInfo, trace: RequestTrace): Work {
    const request = given.abort === undefined ? abortable(given) : given;
    const { abort } = request as ReturnType<typeof abortable>;
    const endWithServer = (): void => {
      if (this.#ending) abort();
      else this.#openEnded.add(abort);
    };
    if (verb === 'watch') endWithServer();
    const labels = trace.labels();
    this.#options.metrics.longRunning(labels, 1);
    const end = once(() => {
      this.#openEnded.delete(abort);
      this.#options.metrics.longRunning(labels, -1);
    });
    return { request, end, endWithServer };
  }

  async #answerError(error: unknown, request: ApiRequest, trace: RequestTrace): Promise<ApiResponse> {
    const status = statusOf(error);
    if (!isStatusError(error) && !request.signal.aborted) {
      const fields = { err: error, method: request.method, path: request.path, auditId: trace.auditId };
      this.#options.logger?.error(fields, 'a request failed inside the server');
      trace.audit?.panicked();
    }
    const response = await answerStatus(status.status, errorEncoding(request));
    await trace.audit?.answered(response);
    trace.audit?.ended();
    return response;
  }
}

/** A request under way. `end` is to be called when its answer has left, or there is none. */
interface Work {
  request: ApiRequest;
  end: () => void;
  /** Has it aborted when the server ends. */
  endWithServer?: () => void;
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

function inTurn(first: () => void, second: () => void): () => void {
  return () => {
    first();
    second();
  };
}

/** The answer, and `end` called when its body has been read or left. */
function endingWith(response: ApiResponse, end: () => void): ApiResponse {
  const { body } = response;
  if (body === undefined || body instanceof Uint8Array) {
    end();
    return response;
  }
  if (!isPushed(body)) return { ...response, body: tapBytes(body, { onEnd: end }) };
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
  /** What is written down of it, from when its caller is known. */
  audit: AuditedRequest | undefined;
  readonly #received: number;

  constructor(request: ApiRequest, auditor: Auditor | undefined) {
    const given = request.headers['audit-id'];
    this.auditId = typeof given === 'string' && /^[\w-]{1,64}$/.test(given) ? given : newAuditId();
    this.#received = auditor?.now() ?? 0;
  }

  arrival(user: UserInfo | undefined): Arrival {
    return { auditId: this.auditId, user, isLong: this.isLong, received: this.#received };
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
