import { readdirSync, readFileSync } from 'node:fs';

/** What a process and its children have used. */
export interface ProcessUsage {
  /** User and system, all threads. */
  cpuMs: number;
  rssBytes: number;
}

/** What `/proc/PID/stat` tells (proc_pid_stat(5)), of all threads, those that ended included. */
export interface ProcessStat {
  parent: number;
  /** User and system; of children only those that ended and were waited for. */
  cpuMs: number;
  childrenCpuMs: number;
  rssPages: number;
}

/** USER_HZ is 100 wherever Node runs on Linux: CPU time is known to 10 ms, so measure for a second or more. */
const TICK_MS = 10;
const PAGE_BYTES = 4096;

/** @throws where the text is not that of a `/proc/PID/stat`. */
export function parseProcessStat(text: string): ProcessStat {
  // The second field is the program's name in brackets, which may hold blanks and brackets of its own.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): number => {
    const value = Number(fields[number - 3]);
    if (!Number.isInteger(value)) throw new Error(`field ${number} of /proc/PID/stat is not a number: ${text}`);
    return value;
  };
  return {
    parent: field(4),
    cpuMs: (field(14) + field(15)) * TICK_MS,
    childrenCpuMs: (field(16) + field(17)) * TICK_MS,
    rssPages: field(24),
  };
}

/**
 * Reads what a process has used so far, with its children: those that live (to any depth) and those that ended.
 *
 * @throws where there is no such process, or no `/proc` (only Linux has it).
 */
export function readProcessUsage(pid: number): ProcessUsage {
  const stats = new Map<number, ProcessStat>();
  for (const entry of readdirSync('/proc')) {
    const stat = /^\d+$/.test(entry) ? readStat(Number(entry)) : undefined;
    if (stat !== undefined) stats.set(Number(entry), stat);
  }
  if (!stats.has(pid)) throw new Error(`process ${pid} has ended: its CPU time cannot be measured`);
  return sumTree(pid, stats);
}

/** The usage of `root` and of all below it. */
export function sumTree(root: number, stats: ReadonlyMap<number, ProcessStat>): ProcessUsage {
  let cpuMs = 0;
  let rssBytes = 0;
  const waiting = [root];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    const stat = stats.get(pid);
    if (stat === undefined) continue;
    cpuMs += stat.cpuMs + stat.childrenCpuMs;
    rssBytes += stat.rssPages * PAGE_BYTES;
    for (const [child, { parent }] of stats) if (parent === pid) waiting.push(child);
  }
  return { cpuMs, rssBytes };
}

/** Of one process alone: its children, also those that ended, are somebody else's. */
export function readOwnUsage(pid: number): ProcessUsage {
  const stat = readStat(pid);
  if (stat === undefined) throw new Error(`process ${pid} has ended: its CPU time cannot be measured`);
  return { cpuMs: stat.cpuMs, rssBytes: stat.rssPages * PAGE_BYTES };
}

function readStat(pid: number): ProcessStat | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  return parseProcessStat(text);
}
