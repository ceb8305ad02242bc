import { constants, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { type Clock, systemClock } from '@asterism/client';
import { collectGarbage } from './collect-garbage.ts';
import { keepYoungSmall } from './keep-young-small.ts';

/** How often one looks until a start is over: in the first idle second. */
const FIRST_LOOK_MS = 1_000;
const LOOK_MS = 10_000;
/** A process is idle whose event loop was at work for less of the time than this; a hundred simulated clusters at rest take a tenth. */
const IDLE_UTILIZATION = 0.2;
/** What a process must have grown by since the last time, in bytes and in proportion, to be worth a pause. */
const WORTH_BYTES = 32 * 1024 * 1024;
const WORTH_TIMES = 1.25;
/** The proportion for one that has just been idle for so many looks, a minute from the first to the last: what it had to do is over. */
const WORTH_TIMES_AT_REST = 1.05;
const REST_LOOKS = 7;
/** After how many idle looks one that was compacted before is again. What was just busy often is again soon, and is slow after a compaction. */
const CALM_LOOKS = 2;
/**
 * How much an idle process may grow before V8 looks for garbage, in percent. By itself it would be a tenth or less, which a hundred
 * simulated clusters reach every 15 seconds: to mark half a gigabyte then is most of what they would cost.
 */
const GROWTH_WHEN_IDLE = 20;
/**
 * What a heap may always grow to before V8 looks for garbage, in bytes. After its first look V8 would have a heap of 20 MB begin again
 * at 30, and buffers that pass through count with it: bulk is then half as fast, for garbage is looked for all the time.
 */
const SMALL_HEAP_BYTES = 256 * 1024 * 1024;

/**
 * To be in the environment of a process with {@link keepHeapCompact}, where whoever starts it has a say: with glibc, pieces of memory
 * of 64 KiB and more go back to the system as soon as they are given up. By itself it stops doing so with the first that is, and lays in
 * so much that one seldom needs to ask: for each connection Node sets 64 KiB aside, which then is memory that was in use before.
 *
 * @example
 * ```ts
 * fork('worker.js', [], { env: { ...COMPACT_HEAP_ENVIRONMENT, ...process.env } });
 * ```
 */
export const COMPACT_HEAP_ENVIRONMENT: Readonly<Record<string, string>> = {
  MALLOC_MMAP_THRESHOLD_: '65536',
  MALLOC_TOP_PAD_: '16384',
};

/**
 * What {@link keepHeapCompact} sees of its process and does to it.
 *
 * @example {@link keepHeapCompact}
 */
export interface ProcessMemory {
  /** Resident, in bytes. */
  rss(): number;
  /** What the last search for garbage left in V8's heap, in bytes. */
  live(): number;
  /** How much of the time since the last call the event loop was at work: 0 to 1. */
  utilization(): number;
  compact(): void;
  /** How much may be added to what lives before garbage is looked for, in percent; 0 leaves that to V8. */
  growth(percent: number): void;
  /** Has what is young not take more room than it needs, until the signal. */
  keepYoungSmall(signal: AbortSignal): void;
}

/**
 * Has a process that runs for long give back what a start or a load needed and an idle process does not: once in its first idle
 * second, and later when it has grown by a quarter and had nothing to do for 20 seconds, or by a twentieth and for a minute. V8 would
 * keep it, hundreds of megabytes, for a load that may never come; and it would look for garbage all the time where next to none is
 * made. What is young has little room until it is much used, for V8 never takes it back from a process that is
 * never quite idle. Each time takes 10 to 20 ms where little lives in the heap, in which nothing else runs. Ends with the signal.
 *
 * @example
 * ```ts
 * keepHeapCompact(signal);
 * ```
 */
export function keepHeapCompact(
  signal: AbortSignal,
  { clock = systemClock, memory = thisProcess(signal) }: { clock?: Clock; memory?: ProcessMemory } = {},
): void {
  let kept = 0;
  let idleLooks = 0;
  let cancel = (): void => {};
  const lookAfter = (ms: number): void => {
    cancel = clock.setTimer(look, ms, { background: true });
  };
  const look = (): void => {
    idleLooks = memory.utilization() < IDLE_UTILIZATION ? idleLooks + 1 : 0;
    const isIdle = idleLooks > 0;
    lookAfter(kept > 0 || isIdle ? LOOK_MS : FIRST_LOOK_MS);
    memory.growth(Math.max(isIdle ? GROWTH_WHEN_IDLE : 0, growthOfSmall(memory.live())));
    const times = idleLooks === REST_LOOKS ? WORTH_TIMES_AT_REST : WORTH_TIMES;
    const isWorth = memory.rss() >= Math.max(kept + WORTH_BYTES, kept * times);
    const isCalm = idleLooks >= (kept > 0 ? CALM_LOOKS : 1);
    if (!isCalm || !isWorth) return;
    memory.compact();
    memory.utilization(); // The pause was none of its work.
    kept = memory.rss();
  };
  if (signal.aborted) return;
  memory.keepYoungSmall(signal);
  lookAfter(FIRST_LOOK_MS);
  signal.addEventListener('abort', () => cancel(), { once: true });
}

/** Up to {@link SMALL_HEAP_BYTES}, in percent; 0 where it is more than half of that. */
function growthOfSmall(live: number): number {
  const times = SMALL_HEAP_BYTES / live;
  return times < 2 ? 0 : Math.round((times - 1) * 100);
}

function thisProcess(signal: AbortSignal): ProcessMemory {
  const live = followLive(signal);
  let last = performance.eventLoopUtilization();
  return {
    rss: () => process.memoryUsage.rss(),
    live,
    utilization: () => {
      const before = last;
      last = performance.eventLoopUtilization();
      return performance.eventLoopUtilization(last, before).utilization;
    },
    compact: compactHeap,
    growth: (percent) => setFlagsFromString(`--heap-growing-percent=${percent}`),
    keepYoungSmall,
  };
}

function followLive(signal: AbortSignal): () => number {
  let live = heapUsed();
  const observer = new PerformanceObserver((list) => {
    if (list.getEntries().some(isMajor)) live = heapUsed();
  });
  observer.observe({ entryTypes: ['gc'] });
  signal.addEventListener('abort', () => observer.disconnect(), { once: true });
  return () => live;
}

function isMajor(collection: object): boolean {
  const { detail } = collection as { detail?: { kind?: number } };
  return detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}

function heapUsed(): number {
  return getHeapStatistics().used_heap_size;
}

/**
 * Collects all garbage, compiled code among it, which is compiled again when it is called, and gives the memory back to the system,
 * which a usual collection does not.
 */
export function compactHeap(): void {
  setFlagsFromString('--stress-flush-code');
  collectGarbage({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  setFlagsFromString('--no-stress-flush-code');
}
