import { type ProcessUsage, readProcessUsage } from '../harness/process-usage.ts';
import type { LoadTarget } from '../load/load-message.ts';

export interface StartCost {
  cpuMs: number;
  wallMs: number;
  rssBytes: number;
}

/** A running API server that a bench measures: ours, or the real one with its etcd. */
export interface ServerUnderTest extends AsyncDisposable {
  name: string;
  /** As a user of `system:masters`, whom no RBAC rule is asked about. */
  admin: LoadTarget;
  /** As a user who may what RBAC says. */
  user: LoadTarget;
  /** Whose CPU time and memory count. */
  pids: number[];
  /** From its start to the first `ok` of `/readyz`: CPU of all its processes, and time; and its memory then. */
  start: StartCost;
}

/** What processes that were started at `started` (by `performance.now()`) and are ready now have used. */
export function startCost(pids: readonly number[], started: number): StartCost {
  const wallMs = performance.now() - started;
  const used = pids.map(readProcessUsage);
  const sum = (of: (usage: ProcessUsage) => number): number => used.reduce((total, usage) => total + of(usage), 0);
  return { wallMs, cpuMs: sum(({ cpuMs }) => cpuMs), rssBytes: sum(({ rssBytes }) => rssBytes) };
}

export const ADMIN = { username: 'bench-admin', groups: ['system:masters'] };
export const USER = { username: 'bench-user', groups: ['bench'] };
