import { flushCompileCache } from 'node:module';
import { keepHeapCompact } from '@asterism/runtime';
import type { ToParent, ToWorker } from './worker-message.ts';

/** A unit that works: what to tell of it, and when it is over. */
export interface RunningUnit<Ready> {
  ready: Ready;
  /** Resolves once the unit has stopped; rejects where it failed. */
  done: Promise<void>;
}

/**
 * The other end of a `WorkerProcess`: `start` runs one unit until the signal aborts. The process ends when the parent lets
 * go of the pipe, or by SIGTERM, after every unit has stopped.
 */
export function runWorker<Config, Ready>(
  start: (config: Config, signal: AbortSignal) => Promise<RunningUnit<Ready>>,
): void {
  // The parent may be gone before this process has loaded its code: then nothing will ever tell.
  if (!process.connected) process.exit(0);
  const stopping = new AbortController();
  const units = new Set<Promise<void>>();
  keepHeapCompact(stopping.signal);
  const stop = async (): Promise<void> => {
    stopping.abort();
    await Promise.all(units);
    process.exit(0);
  };
  // A terminal's Ctrl-C reaches every process of the group; the parent decides in which order they stop.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => void stop());
  process.on('disconnect', () => void stop());
  process.on('message', ({ unit, config }: ToWorker<Config>) => {
    const running = serve(unit, () => start(config, stopping.signal), stopping.signal);
    units.add(running);
    void running.finally(() => units.delete(running));
  });
}

async function serve<Ready>(
  unit: string,
  start: () => Promise<RunningUnit<Ready>>,
  signal: AbortSignal,
): Promise<void> {
  const tell = (message: ToParent<Ready>): void => {
    // A parent that is gone is told of by `disconnect`.
    if (process.connected) process.send?.(message, () => {});
  };
  try {
    const { ready, done } = await start();
    tell({ unit, type: 'ready', ready });
    // Kept now, since this process may be killed rather than end.
    flushCompileCache();
    await done;
  } catch (error) {
    if (signal.aborted) return;
    tell({ unit, type: 'failed', message: error instanceof Error ? error.message : String(error) });
  }
}
