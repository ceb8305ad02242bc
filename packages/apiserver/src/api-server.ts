import type { Transport } from '@asterism/client';
import { failure } from '@asterism/machinery';
import type { ApiServerOptions } from './compose/api-server-options.ts';
import { checkOptions } from './compose/check-options.ts';
import type { UserInfo } from './contract/user-info.ts';
import { answerStatus } from './http/answer/answer.ts';
import type { ApiExtension } from './http/extension/api-extension.ts';
import type { ApiRequest, ApiResponse } from './contract/api-request.ts';
import { createInProcessTransport } from './http/wire/in-process-transport.ts';
import { Listener, type RequestHandler } from './http/wire/listener.ts';
import type { KeyPair } from './pki/index.ts';
import { refuseUpgrade } from './http/wire/upgrade.ts';
import { ServerCore } from './compose/server-core.ts';
import type { StorageState } from './storage/object-store.ts';

/** A Kubernetes API server. */
export interface ApiServer extends AsyncDisposable {
  /**
   * Opens storage, fills the caches, creates what every server has, then listens. Without `listen` in the options, `host`
   * and `url` are '' and `port` is 0. Rejects where storage or the address cannot be had; the server is stopped then.
   */
  start(): Promise<{ host: string; port: number; url: string }>;
  /** Ends watches, drains what is under way and closes storage, in under a second. */
  stop(): Promise<void>;
  /** The server without a wire: authentication (unless `request.user` is set), authorization, routing. Never rejects. */
  handle(request: ApiRequest): Promise<ApiResponse>;
  /** Calls of `user` within this process, as a client's transport. */
  transport(user: UserInfo): Transport;
  /** What its database is like; undefined before the start, after the stop, and where it has none. */
  readonly storage: StorageState | undefined;
  /** Serves another certificate (PEM) on new connections. Open connections keep theirs. Does nothing without `listen`. */
  replaceCertificate(tls: KeyPair): void;
  /** Serves another group-version from now on. Throws where an extension serves it already. */
  addExtension(extension: ApiExtension): void;
}

/** Who the server itself is, in what it writes. */
export const SERVER_USER: UserInfo = {
  username: 'system:apiserver',
  groups: ['system:masters', 'system:authenticated'],
};

export function createApiServer(options: ApiServerOptions): ApiServer {
  return new EmbeddedApiServer(options, (handler) => handler);
}

/** The same with something between the wire and the server, which calls within the process go past: for the test environment. */
export function createApiServerBehind(
  options: ApiServerOptions,
  around: (handler: RequestHandler) => RequestHandler,
): ApiServer {
  return new EmbeddedApiServer(options, around);
}

class EmbeddedApiServer implements ApiServer {
  readonly #options: ApiServerOptions;
  readonly #around: (handler: RequestHandler) => RequestHandler;
  readonly #extensions: ApiExtension[];
  #core: ServerCore | undefined;
  #listener: Listener | undefined;
  #starting: Promise<{ host: string; port: number; url: string }> | undefined;
  /** What {@link stop} waits for: a start that was begun, without what its failure leads to. */
  #begun: Promise<unknown> | undefined;
  #stopping: Promise<void> | undefined;
  #unfollow: () => void = () => {};

  constructor(options: ApiServerOptions, around: (handler: RequestHandler) => RequestHandler) {
    checkOptions(options);
    this.#options = options;
    this.#around = around;
    this.#extensions = [...(options.extensions ?? [])];
  }

  start(): Promise<{ host: string; port: number; url: string }> {
    if (this.#starting === undefined) {
      const begun = this.#start();
      this.#begun = begun;
      this.#starting = begun.catch(async (error: unknown) => {
        await this.stop();
        throw error;
      });
    }
    return this.#starting;
  }

  async #start(): Promise<{ host: string; port: number; url: string }> {
    const { listen, tls, clientCa, delegation, logger } = this.#options;
    const address = { host: '', port: 0 };
    this.#core = await ServerCore.start({
      ...this.#options,
      extensions: this.#extensions,
      user: SERVER_USER,
      address: () => `${address.host}:${address.port}`,
    });
    if (listen === undefined || tls === undefined) return { ...address, url: '' };
    const listener = new Listener({
      ...listen,
      tls,
      clientCa: delegation?.clientCa ?? clientCa,
      isIdentityHeader: delegation && ((name) => delegation.isIdentityHeader(name)),
      handler: this.#around(this.#core.chain),
      onError: (error) => logger?.warn({ err: error }, 'a connection failed'),
    });
    this.#listener = listener;
    if (delegation !== undefined) this.#unfollow = delegation.onChange(() => listener.trust(delegation.clientCa));
    Object.assign(address, await this.#listener.listen());
    if (this.#stopping !== undefined) throw new Error('the API server was stopped while it started');
    this.#core.listens(address, this.#options.advertiseAddress);
    const host = address.host.includes(':') ? `[${address.host}]` : address.host;
    return { ...address, url: `https://${host}:${address.port}` };
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    await this.#begun?.catch(() => {});
    this.#core?.chain.endLongRequests();
    await this.#listener?.close();
    this.#unfollow();
    await this.#core?.close();
    // The registry, where there is one, has closed it.
    if (this.#core === undefined || this.#options.kinds === 'none') await this.#options.storage?.close();
    this.#core = undefined;
  }

  async handle(request: ApiRequest): Promise<ApiResponse> {
    return this.#core === undefined ? await notServing() : await this.#core.chain.handle(request);
  }

  transport(user: UserInfo): Transport {
    const handler = {
      handle: (request: ApiRequest) => this.handle(request),
      upgrade: async (...[request, socket, head]: Parameters<ServerCore['chain']['upgrade']>) => {
        if (this.#core === undefined) await refuseUpgrade(socket, await notServing());
        else await this.#core.chain.upgrade(request, socket, head);
      },
    };
    return createInProcessTransport(handler, user, 'the API server of this process');
  }

  get storage(): StorageState | undefined {
    return this.#core?.storage;
  }

  replaceCertificate(tls: KeyPair): void {
    this.#listener?.replaceCertificate(tls);
  }

  addExtension(extension: ApiExtension): void {
    if (this.#core === undefined) this.#extensions.push(extension);
    else this.#core.addExtension(extension);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

async function notServing(): Promise<ApiResponse> {
  const why = 'the API server is not serving: it is not started yet, or it is stopped';
  return await answerStatus(failure(503, why, { details: { retryAfterSeconds: 1 } }).status);
}
