import { readProcessUsage } from './process-usage.ts';

export interface Cost<T> {
  result: T;
  /** Of all the processes together. */
  cpuMs: number;
  wallMs: number;
}

/** What `work` costs in `pids` (each with its children), which do nothing else meanwhile. */
export async function cpuOf<T>(pids: readonly number[], work: () => Promise<T>): Promise<Cost<T>> {
  const used = (): number => pids.reduce((sum, pid) => sum + readProcessUsage(pid).cpuMs, 0);
  const before = used();
  const started = performance.now();
  const result = await work();
  return { result, cpuMs: used() - before, wallMs: performance.now() - started };
}

/** Resident memory of all of them. */
export function rssOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + readProcessUsage(pid).rssBytes, 0);
}
