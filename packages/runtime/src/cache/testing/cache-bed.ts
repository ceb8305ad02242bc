import { ManualClock } from '@asterism/client/testing';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import { InformerCache } from '../cache.ts';
import { type Logger, silentLogger } from '../../log/logger.ts';
import { FakeApi } from '../../testing/fake-api.ts';

export const PODS: ResourceType = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
export const NODES: ResourceType = { group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false };
export const ALL = '/api/v1/pods';
export const pod = (name: string, more: object = {}): KubeObject => ({ metadata: { name, namespace: 'n', ...more } });

/** A cache, and the fake API server that it watches. */
export class CacheBed implements AsyncDisposable {
  readonly api: FakeApi;
  readonly clock = new ManualClock();
  /** What the cache logged as errors. */
  readonly errors: string[] = [];
  readonly cache: InformerCache;

  private constructor(api: FakeApi) {
    this.api = api;
    const logger: Logger = { ...silentLogger, error: (_, message) => this.errors.push(message) };
    this.cache = new InformerCache(api.client(), { clock: this.clock, random: () => 0, logger });
  }

  static async start(): Promise<CacheBed> {
    return new CacheBed(await FakeApi.start());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cache.stop();
    await this.api[Symbol.asyncDispose]();
  }
}
