import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { isStatusError } from '@asterism/machinery';
import type { ServerLogger } from '../api-server-options.ts';
import type { RequestAuthenticator } from '../authentication/authenticator.ts';
import { attributesOf, impersonate } from '../authentication/impersonation.ts';
import { SYSTEM_MASTERS, type UserInfo } from '../authentication/user-info.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import { forbiddenError } from '../authorization/forbidden-error.ts';
import { answerStatus, resourceNotServed, statusOf, warningHeader } from './answer.ts';
import type { ApiCall } from './api-call.ts';
import type { ApiRequest, ApiResponse } from './api-request.ts';
import { compress } from './compress.ts';
import type { ExtensionRouter } from './extension-router.ts';
import type { InFlightLimit } from './in-flight-limit.ts';
import type { Metrics, RequestLabels } from './metrics.ts';
import { type Encoding, negotiate } from './negotiate.ts';
import { type RequestInfo, requestInfo } from './request-info.ts';
import type { ResourceHandler } from './resource-handler.ts';
import { tapEnd } from './tap-end.ts';
import { refuseUpgrade } from './upgrade.ts';

const LONG_SUBRESOURCES = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

export interface RequestChainOptions {
  authenticate: RequestAuthenticator;
  authorizer: Authorizer;
  extensions: ExtensionRouter;
  resources: Pick<ResourceHandler, 'serves' | 'handle'>;
  /** Answers paths that name no resource. */
  paths: (call: ApiCall) => Promise<ApiResponse>;
  inFlight: InFlightLimit;
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
  readonly #longRunning = new Set<AbortController>();

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
    if (trace.warnings.length > 0) {
      const passedOn = [response.headers.warning ?? []].flat();
      response.headers.warning = [...passedOn, ...trace.warnings.map(warningHeader)];
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
    for (const controller of this.#longRunning) controller.abort();
  }

  async #answer(request: ApiRequest, trace: RequestTrace): Promise<ApiResponse> {
    const { extensions, inFlight, metrics, paths, resources } = this.#options;
    const info = requestInfo(request.method, request.path, request.query);
    trace.info = info;
    trace.isLong = isLongRunning(info);
    const extension = extensions.find(info);
    trace.isServed = extension?.resource !== undefined || resources.serves(info);
    const user = await this.#identify(request, info, trace);
    const leave = trace.isLong || user.groups.includes(SYSTEM_MASTERS) ? undefined : this.#enter(inFlight);
    const kind = isMutating(info.verb) ? 'mutating' : 'readOnly';
    if (!trace.isLong) metrics.inFlight(kind, 1);
    try {
      await this.#authorize(user, info);
      const long = trace.isLong ? this.#startLong(request, trace) : undefined;
      const call: ApiCall = { request: long?.request ?? request, info, user, warn: (text) => trace.warn(text) };
      try {
        const response = await (extension !== undefined
          ? extensions.handle(extension, call)
          : info.isResource
            ? resources.handle(call)
            : paths(call));
        if (long !== undefined) return long.follow(response);
        return await compress(request, response);
      } catch (error) {
        long?.end();
        throw error;
      }
    } finally {
      leave?.();
      if (!trace.isLong) metrics.inFlight(kind, -1);
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

  #enter(limit: InFlightLimit): () => void {
    try {
      return limit.enter();
    } catch (error) {
      this.#options.metrics.refusedAsTooMany();
      throw error;
    }
  }

  /** Gives a long request a signal that the server's end aborts too, and counts it for as long as its body runs. */
  #startLong(request: ApiRequest, trace: RequestTrace) {
    const controller = new AbortController();
    const onAbort = (): void => controller.abort();
    request.signal.addEventListener('abort', onAbort, { once: true });
    if (request.signal.aborted) controller.abort();
    this.#longRunning.add(controller);
    this.#options.metrics.longRunning(trace.labels(), 1);
    let ended = false;
    const end = (): void => {
      if (ended) return;
      ended = true;
      request.signal.removeEventListener('abort', onAbort);
      this.#longRunning.delete(controller);
      this.#options.metrics.longRunning(trace.labels(), -1);
    };
    const follow = (response: ApiResponse): ApiResponse => {
      if (response.body === undefined || response.body instanceof Uint8Array) {
        end();
        return response;
      }
      return { ...response, body: tapEnd(response.body, end) };
    };
    return { request: { ...request, signal: controller.signal }, end, follow };
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

/** What is learned of a request on its way. */
class RequestTrace {
  readonly auditId: string;
  readonly warnings: string[] = [];
  info: RequestInfo | undefined;
  isLong = false;
  /** Only then the resource's name stands in metrics: anybody can make up others. */
  isServed = false;

  constructor(request: ApiRequest) {
    const given = request.headers['audit-id'];
    this.auditId = typeof given === 'string' && /^[\w-]{1,64}$/.test(given) ? given : randomUUID();
  }

  warn(text: string): void {
    if (!this.warnings.includes(text)) this.warnings.push(text);
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

function isLongRunning({ verb, subresource, isResource }: RequestInfo): boolean {
  return isResource && (verb === 'watch' || LONG_SUBRESOURCES.has(subresource));
}

function isMutating(verb: string): boolean {
  return verb !== 'get' && verb !== 'list' && verb !== 'watch' && verb !== 'head';
}

/** An error is YAML for those who take nothing else. */
function errorEncoding({ headers }: ApiRequest): Encoding {
  try {
    return negotiate(headers.accept, { encodings: ['json', 'yaml'], transforms: ['Table'] }).encoding;
  } catch {
    return 'json';
  }
}
