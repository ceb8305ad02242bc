import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * V8 doubles its space for young objects, up to 128 MB, as soon as as much as fits into it has survived, and makes it smaller only
 * where next to nothing happens: a process that answers a hundred requests a second then holds 128 MB for what dies at once. This, in
 * bytes and both of its halves together, is enough for it.
 */
const ENOUGH_BYTES = 16 * 1024 * 1024;
/** Where so many collections come in a second, more room makes fewer of them: as much is then made as in a load. */
const MANY = 6;
const SECOND_MS = 1_000;

/** V8's space for young objects, of which {@link keepYoungSmall} decides how large it may be. */
export interface YoungSpace {
  bytes(): number;
  /** Whether it may be doubled. */
  mayGrow(may: boolean): void;
  /** Tells of each collection, soon after it, with when it was in ms. */
  onCollection(listener: (at: number) => void): Disposable;
}

/**
 * Has V8's space for young objects stay small until it is much used. It then grows as always, and stays so until the heap is
 * compacted. Ends with the signal.
 */
export function keepYoungSmall(signal: AbortSignal, space: YoungSpace = youngSpace()): void {
  if (signal.aborted) return;
  const last: number[] = [];
  let grows = true;
  const allow = (may: boolean): void => {
    if (may !== grows) space.mayGrow(may);
    grows = may;
  };
  const watching = space.onCollection((at) => {
    last.push(at);
    if (last.length > MANY) last.shift();
    const many = last.length === MANY && at - (last[0] ?? 0) < SECOND_MS;
    allow(many || space.bytes() < ENOUGH_BYTES);
  });
  const end = (): void => {
    watching[Symbol.dispose]();
    allow(true);
  };
  signal.addEventListener('abort', end, { once: true });
}

/** This process's. */
export function youngSpace(): YoungSpace {
  return {
    bytes: () => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0,
    mayGrow: (may) => setFlagsFromString(`--semi-space-growth-factor=${may ? 2 : 1}`),
    onCollection: (listener) => {
      const observer = new PerformanceObserver((list) => {
        for (const { startTime } of list.getEntries()) listener(startTime);
      });
      observer.observe({ entryTypes: ['gc'] });
      return { [Symbol.dispose]: () => observer.disconnect() };
    },
  };
}
