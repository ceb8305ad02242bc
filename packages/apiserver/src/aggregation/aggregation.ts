import { API_SERVICES, ENDPOINT_SLICES, type KubeObject, SERVICES } from '@asterism/machinery';
import type { UserInfo } from '../contract/user-info.ts';
import type { CatalogGroup } from '../discovery/group-catalog.ts';
import { resourceNotServed } from '../http/answer/answer.ts';
import type { ExtensionHandler } from '../http/extension/extension-router.ts';
import type { RequestInfo } from '../contract/request-info.ts';
import type { RemoteDescription } from '../openapi/remote-description.ts';
import type { ObservedChange, Registry } from '../registry/registry.ts';
import { requireResource } from '../registry/require-resource.ts';
import type { AggregationOptions } from './aggregation-options.ts';
import { readRemoteApiService, type RemoteApiService } from './api-service.ts';
import type { RemoteApi } from './remote-api.ts';
import type { RemoteApis } from './remote-apis.ts';
import type { ServedResource } from '../contract/served-resource.ts';

export interface AggregationStart extends AggregationOptions {
  registry: Registry;
  /** Who the server is in what it writes. */
  user: UserInfo;
  signal: AbortSignal;
  clock: () => number;
  onError(what: string, error: unknown): void;
}

/** The server that hands requests on. */
export interface AggregatingServer {
  /** Whether its own code serves a group-version: that cannot be taken over. */
  isExtension(group: string, version: string): boolean;
  /** What discovery and OpenAPI say is different now. */
  changed(): void;
}

/**
 * The APIServices that name a service. A server without one holds nothing but this: what asks other servers is loaded with the
 * first of them.
 *
 * Built-in group-versions and extensions are never taken over; a group-version of a CustomResourceDefinition is, for as long as
 * the APIService stands, as upstream does.
 */
export class Aggregation {
  readonly #options: AggregationStart;
  /** By `GROUP/VERSION`. */
  readonly #services = new Map<string, RemoteApiService>();
  #server: AggregatingServer = { isExtension: () => false, changed: () => {} };
  #remotes: RemoteApis | undefined;
  #loading: Promise<RemoteApis> | undefined;

  /** Takes up what is stored, and follows it until the signal. */
  static async start(options: AggregationStart): Promise<Aggregation> {
    const aggregation = new Aggregation(options);
    const { registry, signal } = options;
    const apiServices = requireResource(registry, API_SERVICES);
    const watched = { apiServices, services: requireResource(registry, SERVICES) };
    const slices = requireResource(registry, ENDPOINT_SLICES);
    const stop = registry.observe((change) => aggregation.#observe(change, { ...watched, slices }));
    signal.addEventListener('abort', () => aggregation.#stop(stop), { once: true });
    for (const stored of (await registry.list(apiServices, { skipDamaged: true })).items)
      aggregation.#take(stored.parse());
    return aggregation;
  }

  private constructor(options: AggregationStart) {
    this.#options = options;
  }

  serveFor(server: AggregatingServer): void {
    this.#server = server;
  }

  /** Whether another server serves a group-version. */
  isRemote(group: string, version: string): boolean {
    return this.#services.has(`${group}/${version}`) && !this.#server.isExtension(group, version);
  }

  /** Who answers a request for anything at or below a group-version that another server serves. */
  find({ isResource, group, version, path }: RequestInfo): ExtensionHandler | undefined {
    if (this.#services.size === 0) return undefined;
    const [, root, ...rest] = path.split('/');
    if (root !== 'apis') return undefined;
    const [ofGroup = '', ofVersion = ''] = isResource ? [group, version] : rest;
    if (!this.isRemote(ofGroup, ofVersion)) return undefined;
    const key = `${ofGroup}/${ofVersion}`;
    return {
      authorization: 'rbac',
      isOpen: true,
      handle: async (context) => await (await this.#api(key)).handle(context),
      upgrade: async (context, socket, head) => await (await this.#api(key)).upgrade(context, socket, head),
    };
  }

  /** The groups of this server with what others serve, in order of their priorities. */
  mergeInto(groups: CatalogGroup[]): CatalogGroup[] {
    return this.#services.size === 0 || this.#remotes === undefined ? groups : this.#remotes.mergeInto(groups);
  }

  descriptions(): readonly RemoteDescription[] {
    return this.#remotes?.descriptions() ?? [];
  }

  async #api(key: string): Promise<RemoteApi> {
    const remotes = await this.#load();
    const api = remotes.get(key);
    if (api === undefined) throw resourceNotServed();
    return api;
  }

  #load(): Promise<RemoteApis> {
    this.#loading ??= this.#begin();
    return this.#loading;
  }

  async #begin(): Promise<RemoteApis> {
    const { RemoteApis } = await import('./remote-apis.ts');
    const remotes = new RemoteApis({
      ...this.#options,
      isRemote: (group, version) => this.isRemote(group, version),
      onChange: () => this.#server.changed(),
    });
    this.#remotes = remotes;
    for (const service of this.#services.values()) remotes.sync(service);
    if (this.#options.signal.aborted) remotes.close();
    this.#server.changed();
    return remotes;
  }

  #observe(
    { resource, type, stored, namespace = '', name }: ObservedChange,
    watched: Record<'apiServices' | 'services' | 'slices', ServedResource>,
  ): void {
    if (resource === watched.apiServices) {
      if (type === 'put') this.#take(stored.parse());
      else this.#drop(name);
      return;
    }
    if (this.#remotes === undefined || this.#services.size === 0) return;
    if (resource === watched.services) this.#remotes.serviceChanged(namespace, name);
    if (resource !== watched.slices) return;
    const service = stored.parse().metadata?.labels?.['kubernetes.io/service-name'];
    if (service !== undefined) this.#remotes.serviceChanged(namespace, service);
  }

  #take(object: KubeObject): void {
    const service = readRemoteApiService(object);
    const name = object.metadata?.name ?? '';
    if (service === undefined || this.#isBuiltIn(service)) return this.#drop(name);
    const key = `${service.group}/${service.version}`;
    const isNew = !this.#services.has(key);
    this.#services.set(key, service);
    if (this.#remotes !== undefined) this.#remotes.sync(service);
    else this.#load().catch((error: unknown) => this.#options.onError('apiservices', error));
    if (isNew) this.#server.changed();
  }

  #drop(name: string): void {
    for (const [key, service] of this.#services) {
      if (service.name !== name) continue;
      this.#services.delete(key);
      this.#remotes?.remove(key);
      this.#server.changed();
    }
  }

  #isBuiltIn({ group, version }: RemoteApiService): boolean {
    const { registry } = this.#options;
    return [...registry.served(), ...registry.legacy()].some(
      ({ storage, type }) => storage === 'builtin' && type.group === group && type.version === version,
    );
  }

  #stop(stop: () => void): void {
    stop();
    this.#remotes?.close();
  }
}
