import { API_SERVICES, type APIService, isNotFound } from '@asterism/machinery';
import type { UserInfo } from '../contract/user-info.ts';
import { renewedCondition } from '../controllers/renewed-condition.ts';
import { unlessChanged } from '../controllers/unless-changed.ts';
import type { CatalogGroup } from '../discovery/group-catalog.ts';
import type { RemoteDescription } from '../openapi/remote-description.ts';
import type { Registry } from '../registry/registry.ts';
import { requireResource } from '../registry/require-resource.ts';
import type { AggregationOptions } from './aggregation-options.ts';
import type { RemoteApiService } from './api-service.ts';
import { mergeGroups } from './merge-groups.ts';
import { type Availability, RemoteApi } from './remote-api.ts';

export interface RemoteApisOptions extends AggregationOptions {
  registry: Registry;
  user: UserInfo;
  clock: () => number;
  isRemote(group: string, version: string): boolean;
  onChange(): void;
  onError(what: string, error: unknown): void;
}

/** What other servers serve, each with its state. */
export class RemoteApis {
  readonly #options: RemoteApisOptions;
  /** By `GROUP/VERSION`. */
  readonly #apis = new Map<string, RemoteApi>();

  constructor(options: RemoteApisOptions) {
    this.#options = options;
  }

  get(key: string): RemoteApi | undefined {
    return this.#apis.get(key);
  }

  sync(service: RemoteApiService): void {
    const key = `${service.group}/${service.version}`;
    const known = this.#apis.get(key);
    if (known !== undefined) return known.update(service);
    const { proxyClient, ...options } = this.#options;
    const api = new RemoteApi(service, {
      ...options,
      proxyClient,
      random: Math.random,
      onChecked: (...told) => this.#tell(...told),
    });
    this.#apis.set(key, api);
    api.wake();
  }

  remove(key: string): void {
    this.#apis.get(key)?.close();
    this.#apis.delete(key);
  }

  serviceChanged(namespace: string, name: string): void {
    for (const api of this.#apis.values()) {
      const at = api.service.service;
      if (at.namespace === namespace && at.name === name) api.wake();
    }
  }

  mergeInto(groups: CatalogGroup[]): CatalogGroup[] {
    return mergeGroups(
      groups,
      this.#served().map((api) => api.version),
    );
  }

  descriptions(): RemoteDescription[] {
    return this.#served().flatMap((api) => api.description ?? []);
  }

  close(): void {
    for (const api of this.#apis.values()) api.close();
  }

  #served(): RemoteApi[] {
    return [...this.#apis.values()].filter(({ service }) => this.#options.isRemote(service.group, service.version));
  }

  /** Writes the condition `Available`, where it is not there as it should be. */
  async #tell({ name, uid }: RemoteApiService, availability: Availability): Promise<void> {
    const { registry, user, clock } = this.#options;
    const resource = requireResource(registry, API_SERVICES);
    const found = await readApiService(registry, name);
    if (found === undefined || found.metadata?.uid !== uid || !found.spec?.service) return;
    const old = found.status?.conditions ?? [];
    const condition = renewedCondition(old, clock, { type: 'Available', ...availability });
    if (condition === undefined) return;
    const conditions = [...old.filter(({ type }) => type !== 'Available'), condition];
    const body = { ...found, status: { ...found.status, conditions } };
    const context = { user, name, subresource: 'status', fieldManager: 'kube-apiserver' };
    await unlessChanged(() => registry.update(resource, { name }, body, context));
  }
}

async function readApiService(registry: Registry, name: string): Promise<APIService | undefined> {
  try {
    return (await registry.get(requireResource(registry, API_SERVICES), { name })).parse() as APIService;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
