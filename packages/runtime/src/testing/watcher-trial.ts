import { ManualClock } from '@asterism/client/testing';
import type { ResourceClient } from '@asterism/client';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import type { WatcherEvent, WatcherProgress, WatchResourceOptions, WatchSource } from '../watch/watch-contract.ts';
import { watchResource } from '../watch/watcher.ts';
import { FakeApi, type FakeCall } from './fake-api.ts';

export const PODS: ResourceType = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
/** Of all pods. */
export const ALL = '/api/v1/pods';

export const pod = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'n' },
});

/** Of a timer: whether it is a wait after a failure, and not the end of a watch. */
export const isBackoff = (ms: number): boolean => ms <= 60_000;

export interface Followed {
  progress: WatcherProgress[];
  /** The next events: `Init`, `InitApply a`, … */
  next(count: number): Promise<string[]>;
}

/** Watchers of the pods of a fake API, whose time only the test moves; they end with it. */
export class WatcherTrial implements AsyncDisposable {
  readonly api: FakeApi;
  readonly clock = new ManualClock();
  readonly abort = new AbortController();

  private constructor(api: FakeApi) {
    this.api = api;
  }

  static async start(): Promise<WatcherTrial> {
    return new WatcherTrial(await FakeApi.start());
  }

  follow(
    source?: ResourceClient | (() => WatchSource<KubeObject>),
    options: Partial<WatchResourceOptions> = {},
  ): Followed {
    const progress: WatcherProgress[] = [];
    const events = watchResource(source ?? this.api.client().resource(PODS), {
      signal: this.abort.signal,
      clock: this.clock,
      random: () => 0,
      onProgress: (step) => progress.push(step),
      ...options,
    });
    return {
      progress,
      async next(count) {
        const seen: string[] = [];
        while (seen.length < count) {
          const { value, done } = await events.next();
          if (done) break;
          seen.push(told(value as WatcherEvent<KubeObject>));
        }
        return seen;
      },
    };
  }

  /** The requests for lists, so far. */
  lists(): FakeCall[] {
    return this.api.calls.filter((call) => !call.watch && !isQuestion(call));
  }

  /** The requests for watches, so far. */
  watches(): FakeCall[] {
    return this.api.calls.filter(({ watch }) => watch);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.abort.abort();
    await this.api[Symbol.asyncDispose]();
  }
}

const told = (event: WatcherEvent<KubeObject>): string =>
  'object' in event ? `${event.type} ${event.object.metadata?.name}` : event.type;

/** Whether the server has come as far as what was seen. */
const isQuestion = ({ query }: FakeCall): boolean => query.get('limit') === '1';
