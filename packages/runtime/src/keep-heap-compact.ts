import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Clock, systemClock } from '@asterism/client';

/** By then a start is over, with what it does behind its first answer. */
const FIRST_LOOK_MS = 1_000;
const LOOK_MS = 10_000;
/** A process is idle whose event loop was at work for less of the time than this; a hundred simulated clusters at rest take a tenth. */
const IDLE_UTILIZATION = 0.2;
/** What a process must have grown by since the last time, in bytes and in proportion, to be worth a pause. */
const WORTH_BYTES = 32 * 1024 * 1024;
const WORTH_TIMES = 1.25;
/** The proportion for one that has been idle for so many looks, a minute: what it had to do is over. */
const WORTH_TIMES_AT_REST = 1.05;
const REST_LOOKS = 6;

/** What {@link keepHeapCompact} sees of its process and does to it. */
export interface ProcessMemory {
  /** Resident, in bytes. */
  rss(): number;
  /** How much of the time since the last call the event loop was at work: 0 to 1. */
  utilization(): number;
  compact(): void;
}

/**
 * Has a process that runs for long give back what a start or a load needed and an idle process does not: once now, and later
 * whenever it has grown by a quarter and has nothing to do, or by a twentieth and has had nothing to do for a minute. V8 would keep it, hundreds of megabytes, for a load that may never
 * come. Each time takes 10 to 20 ms where little lives in the heap, in which nothing else runs. Ends with the signal.
 */
export function keepHeapCompact(
  signal: AbortSignal,
  { clock = systemClock, memory = thisProcess() }: { clock?: Clock; memory?: ProcessMemory } = {},
): void {
  let kept = 0;
  let idleLooks = 0;
  let cancel = (): void => {};
  const lookAfter = (ms: number): void => {
    cancel = clock.setTimer(look, ms, { background: true });
  };
  const look = (): void => {
    lookAfter(LOOK_MS);
    idleLooks = memory.utilization() < IDLE_UTILIZATION ? idleLooks + 1 : 0;
    const times = idleLooks >= REST_LOOKS ? WORTH_TIMES_AT_REST : WORTH_TIMES;
    const isWorth = memory.rss() >= Math.max(kept + WORTH_BYTES, kept * times);
    if (kept > 0 && !(idleLooks > 0 && isWorth)) return;
    memory.compact();
    kept = memory.rss();
  };
  if (signal.aborted) return;
  lookAfter(FIRST_LOOK_MS);
  signal.addEventListener('abort', () => cancel(), { once: true });
}

function thisProcess(): ProcessMemory {
  let last = performance.eventLoopUtilization();
  return {
    rss: () => process.memoryUsage.rss(),
    utilization: () => {
      const before = last;
      last = performance.eventLoopUtilization();
      return performance.eventLoopUtilization(last, before).utilization;
    },
    compact: compactHeap,
  };
}

/**
 * Collects all garbage, compiled code among it, which is compiled again when it is called, and gives the memory back to the system,
 * which a usual collection does not.
 */
export function compactHeap(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: object) => void;
  setFlagsFromString('--no-expose-gc');
  setFlagsFromString('--stress-flush-code');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  setFlagsFromString('--no-stress-flush-code');
}
