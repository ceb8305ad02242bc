import {
  type Clock,
  ClientError,
  compareResourceVersions,
  isTooLarge,
  listBytes,
  ListProgress,
  type ReadOptions,
  type Selectors,
  sleep,
  completeClock,
} from '@asterism/client';
import { formatGroupResource, isStatusError, type KubeObject, StatusError, type WatchEvent } from '@asterism/machinery';
import { type Backoff, backoff } from '../waiting/backoff.ts';
import { LinkedAbort } from '../waiting/linked-abort.ts';
import type { OnWatcherEvent, WatchableResource, WatchResourceOptions, WatchSource } from './watch-contract.ts';
import { isFromTheFuture, isNoAnswer, stateAfterFailure, type WatchState } from './watch-state.ts';

const BACKOFF = { initialMs: 800, factor: 2, capMs: 30_000, jitter: 1 };
/** After so long without a failure the next one is a first one. */
const HEALTHY_MS = 120_000;
/** Watches end by themselves after a random time, so that they do not all end together. */
const WATCH_SECONDS = { least: 300, span: 300 };
/** A watch that outlives its own timeout by this is dead, whatever its connection says. */
const WATCHDOG_MS = 5_000;
/** A watch that ends so much before its time was not ended by that. */
const EARLY_MS = 2_000;
/** A watch that ends sooner, without an event, counts as a failure: else a server that ends each at once is asked in a loop. */
const SHORT_WATCH_MS = 1_000;
/** A page that is too large to be read is asked for again with so many times fewer objects. */
const SHRINK = 8;
const ANSWERS_AGAIN = new Error('the server answers again');
/** For so long a server that sends a list may say nothing before its end. */
const STREAM_PAUSE_MS = 10_000;
/** Of a server that does not know how to send a list over a watch, or may not. */
const STREAM_REFUSALS: ReadonlySet<unknown> = new Set([400, 405, 406, 422, 501]);
const NO_STREAM = 'ERR_WATCH_LIST_UNENDED';
const nothing = (): void => {};
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** One run of `followResource`, which says how it behaves (W1 to W5). */
export class ResourceWatcher<T extends KubeObject> {
  readonly #source: () => WatchSource<T>;
  readonly #options: WatchResourceOptions;
  readonly #onEvent: OnWatcherEvent<T>;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #backoff: Backoff;
  #state: WatchState;
  #streams: boolean;
  /** When the wait after the last failure was over, and health could begin. */
  #tryingSince = Number.NEGATIVE_INFINITY;
  /** Since when watches have been failing with 5xx. */
  #serverErrorsSince: number | undefined;
  /** The watch that runs, or ran last, has brought something. */
  #progressed = false;
  /** Since it was looked at last, something came over the watch. */
  #streamed = false;
  #cancelPauseCheck = nothing;
  /** Objects of a page that can be read, where fewer than asked for can. */
  #pageSize: number | undefined;
  /** A watch ended before its time: the server may have been restored since. */
  #doubtful = false;

  constructor(source: () => WatchSource<T>, options: WatchResourceOptions, onEvent: OnWatcherEvent<T>) {
    this.#source = source;
    this.#options = options;
    this.#onEvent = onEvent;
    this.#clock = completeClock(options.clock);
    this.#random = options.random ?? Math.random;
    this.#backoff = backoff({ ...BACKOFF, random: this.#random });
    this.#streams = options.initialList === 'stream';
    const { resourceVersion } = options;
    this.#state = resourceVersion ? { kind: 'InitListed', resourceVersion } : { kind: 'Empty', resourceVersion: '0' };
  }

  async run(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      const { client, replaced, restored } = this.#source();
      using attempt = new LinkedAbort(signal, replaced, restored);
      try {
        await this.#step(client, attempt);
      } catch (error) {
        if (signal.aborted) return;
        if (!replaced?.aborted && !restored?.aborted && !this.#turnsToPages(error)) await this.#fail(error, restored);
      }
      if (restored?.aborted) this.#state = { kind: 'Empty', resourceVersion: '' };
    }
  }

  /** Returns rather than awaits: for each watch a call is kept for as long as that is open. */
  #step(client: WatchableResource<T>, attempt: LinkedAbort): Promise<void> {
    const state = this.#state;
    if (state.kind === 'Empty') return this.#begin(state.resourceVersion, attempt);
    if (state.kind === 'InitPage') return this.#listPage(client, state, attempt);
    if (state.kind !== 'InitialWatch' && this.#doubtful) return this.#ask(client, state.resourceVersion, attempt);
    return this.#watch(client, state, attempt);
  }

  async #begin(resourceVersion: string, { signal }: LinkedAbort): Promise<void> {
    this.#options.onProgress?.({ state: 'listing' });
    await this.#onEvent({ type: 'Init' });
    const streams = this.#streams && ((await this.#source().sendsStreams?.(signal)) ?? true);
    const { client } = this.#source();
    const progress = new ListProgress(formatGroupResource(client.type), client.listLimits);
    this.#state = streams
      ? { kind: 'InitialWatch', progress }
      : { kind: 'InitPage', resourceVersion, continue: undefined, progress };
  }

  /** Whether the server has come as far as what was seen: it says so, or refuses. One object is enough, by whatever labels. */
  async #ask(client: WatchableResource<T>, resourceVersion: string, { signal }: LinkedAbort): Promise<void> {
    const { namespace, fieldSelector = '' } = this.#options;
    const list = await client.list({
      namespace,
      // Who may see one object only must name it; any other selection would have the server look through all of them.
      fieldSelector: /^metadata\.name=[^,]*$/.test(fieldSelector) ? fieldSelector : undefined,
      limit: 1,
      resourceVersion,
      resourceVersionMatch: 'NotOlderThan',
      signal,
    });
    const order = compareResourceVersions(list.metadata?.resourceVersion ?? '', resourceVersion);
    this.#doubtful = false;
    if (order === undefined || order >= 0) return;
    this.#state = { kind: 'Empty', resourceVersion: '' };
    this.#source().foundRestored?.();
  }

  async #listPage(
    client: WatchableResource<T>,
    state: WatchState & { kind: 'InitPage' },
    attempt: LinkedAbort,
  ): Promise<void> {
    const limit = this.#pageSize ?? this.#options.pageSize ?? 500;
    const { resourceVersion, continue: token, progress } = state;
    const position = token
      ? { continue: token }
      : resourceVersion
        ? { resourceVersion, resourceVersionMatch: 'NotOlderThan' as const }
        : {};
    const asked = { ...this.#wanted(), limit, signal: attempt.signal, ...position };
    const list = await client.list(asked).catch((error: unknown) => {
      if (!isTooLarge(error) || (limit <= 1 && resourceVersion === '')) throw error;
      return undefined;
    });
    if (!list) {
      // What a server has in its cache comes as a whole, whatever the limit is; only the newest comes in pages.
      if (token || resourceVersion === '') this.#pageSize = Math.max(1, Math.floor(limit / SHRINK));
      this.#state = { ...state, resourceVersion: '' };
      return;
    }
    const bytes = listBytes(list) / list.items.length;
    for (const object of list.items) {
      const told = this.#onEvent({ type: 'InitApply', object }, bytes);
      if (told) await told;
    }
    const next = list.metadata?.continue;
    progress.add({ objects: list.items.length, bytes: listBytes(list), continue: next });
    if (next) {
      this.#state = { ...state, continue: next };
      return;
    }
    const listed = list.metadata?.resourceVersion ?? '';
    await this.#onEvent({ type: 'InitDone', resourceVersion: listed });
    this.#moveTo('InitListed', listed);
  }

  async #watch(
    client: WatchableResource<T>,
    state: WatchState & { kind: 'InitialWatch' | 'InitListed' | 'Watching' },
    attempt: LinkedAbort,
  ): Promise<void> {
    const position =
      state.kind === 'InitialWatch' ? { sendInitialEvents: true } : { resourceVersion: state.resourceVersion };
    const timeoutSeconds = Math.floor(WATCH_SECONDS.least + WATCH_SECONDS.span * this.#random());
    const opened = this.#clock.monotonic();
    const cancelWatchdog = this.#clock.setTimer(
      () => {
        const silent = `the watch of ${formatGroupResource(client.type)} did not end ${WATCHDOG_MS} ms after its time`;
        attempt.abort(new ClientError(silent, { code: 'ERR_WATCH_SILENT' }));
      },
      timeoutSeconds * 1000 + WATCHDOG_MS,
    );
    const onOpen = (): void => this.#report();
    const { signal } = attempt;
    this.#progressed = false;
    this.#doubtful = true;
    this.#streamed = true;
    this.#endLongPauses(client, attempt);
    try {
      const stream = client.watch({ ...this.#wanted(), timeoutSeconds, onOpen, signal, ...position });
      await stream.forEach((event, bytes) => this.#tell(event, bytes));
    } finally {
      cancelWatchdog();
      this.#cancelPauseCheck();
    }
    this.#doubtful = this.#clock.monotonic() - opened < timeoutSeconds * 1000 - EARLY_MS;
    if (
      this.#state.kind === 'InitialWatch' ||
      (!this.#progressed && this.#clock.monotonic() - opened < SHORT_WATCH_MS)
    ) {
      throw new ClientError(`the server ended the watch of ${formatGroupResource(client.type)} at once`, {
        code: 'ERR_WATCH_ENDED',
      });
    }
  }

  /** A server that does not know what was asked for opens a watch like any other. */
  #endLongPauses(client: WatchableResource<T>, attempt: LinkedAbort): void {
    this.#cancelPauseCheck = nothing;
    if (this.#state.kind !== 'InitialWatch') return;
    if (!this.#streamed) {
      const what = `the list of ${formatGroupResource(client.type)} over a watch did not end`;
      return attempt.abort(new ClientError(what, { code: NO_STREAM }));
    }
    this.#streamed = false;
    this.#cancelPauseCheck = this.#clock.setTimer(() => this.#endLongPauses(client, attempt), STREAM_PAUSE_MS);
  }

  /** Whether the failure is that the server does not send lists over watches; then it is asked for pages from now on. */
  #turnsToPages(error: unknown): boolean {
    if (this.#state.kind !== 'InitialWatch') return false;
    const code = isStatusError(error) ? error.code : error instanceof ClientError ? error.code : undefined;
    if (code !== NO_STREAM && !STREAM_REFUSALS.has(code)) return false;
    this.#streams = false;
    this.#doubtful = false;
    this.#source().foundNoStreams?.();
    this.#state = { kind: 'Empty', resourceVersion: '0' };
    return true;
  }

  #wanted(): Selectors & ReadOptions & { namespace: string | undefined } {
    const { namespace, labelSelector, fieldSelector, cutManagedFields = true, metadataOnly, subtrees } = this.#options;
    return { namespace, labelSelector, fieldSelector, cutManagedFields, metadataOnly, subtrees };
  }

  #tell(event: WatchEvent<T>, bytes = 0): void | Promise<void> {
    if (event.type === 'ERROR') throw new StatusError(event.object);
    const { resourceVersion = '', annotations } = event.object.metadata ?? {};
    const initial = this.#state.kind === 'InitialWatch';
    this.#progressed = true;
    this.#streamed = true;
    if (event.type === 'BOOKMARK') {
      if (!initial) this.#see(resourceVersion);
      else if (annotations?.[INITIAL_EVENTS_END] === 'true') return this.#endList(resourceVersion);
      return;
    }
    const { object } = event;
    if (this.#state.kind === 'InitialWatch') this.#state.progress.addObject(bytes);
    const type = event.type === 'DELETED' ? 'Delete' : initial ? 'InitApply' : 'Apply';
    const told = this.#onEvent({ type, object }, bytes);
    if (initial) return told;
    if (told) return told.then(() => this.#see(resourceVersion));
    this.#see(resourceVersion);
  }

  async #endList(resourceVersion: string): Promise<void> {
    await this.#onEvent({ type: 'InitDone', resourceVersion });
    this.#see(resourceVersion);
  }

  #see(resourceVersion: string): void {
    if (resourceVersion) this.#moveTo('Watching', resourceVersion);
  }

  #moveTo(kind: 'InitListed' | 'Watching', resourceVersion: string): void {
    this.#state = { kind, resourceVersion };
    this.#serverErrorsSince = undefined;
    if (kind === 'Watching') this.#report();
  }

  #report(): void {
    const resourceVersion = 'resourceVersion' in this.#state ? this.#state.resourceVersion : '';
    this.#options.onProgress?.({ state: 'watching', resourceVersion });
  }

  /** Decides where to go on, and waits. */
  async #fail(error: unknown, restored: AbortSignal | undefined): Promise<void> {
    const now = this.#clock.monotonic();
    if (now - this.#tryingSince >= HEALTHY_MS) this.#backoff.reset();
    this.#state = this.#afterFailure(error, now);
    const retryAfterMs = isStatusError(error) ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    const delayMs = Math.max(retryAfterMs, this.#backoff.next());
    this.#options.onProgress?.({ state: 'waiting', error, delayMs });
    const { replaced, answersAgain, foundRestored } = this.#source();
    using wait = new LinkedAbort(this.#options.signal, replaced, restored);
    if (isFromTheFuture(error)) foundRestored?.();
    if (retryAfterMs === 0 && isNoAnswer(error)) {
      answersAgain?.(wait.signal).then(
        (again) => again && wait.abort(ANSWERS_AGAIN),
        () => {}, // The wait is over.
      );
    }
    await sleep(this.#clock, delayMs, wait.signal).catch((reason) => {
      if (reason === ANSWERS_AGAIN) this.#backoff.reset();
    });
    wait.abort(undefined);
    this.#tryingSince = this.#clock.monotonic();
  }

  #afterFailure(error: unknown, now: number): WatchState {
    const code = isStatusError(error) ? error.code : undefined;
    if (this.#state.kind === 'InitialWatch' && code !== undefined && code < 500 && code !== 429) this.#streams = false;
    if (code !== undefined && code >= 500) this.#serverErrorsSince ??= now;
    const serverErrorsMs = this.#serverErrorsSince === undefined ? 0 : now - this.#serverErrorsSince;
    return stateAfterFailure(this.#state, { error, progressed: this.#progressed, serverErrorsMs });
  }
}
