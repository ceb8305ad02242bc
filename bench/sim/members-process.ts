import type { Connection } from '@asterism/client';
import { COMPACT_HEAP_ENVIRONMENT } from '@asterism/runtime';
import type { MemberOptions } from '@asterism/sim';
import { ServedProcess } from '../harness/served-process.ts';

export interface ToMembers {
  start?: Pick<MemberOptions, 'name' | 'dataDir' | 'nodes'>[];
  /** By name; before any is started. */
  stop?: string[];
}

export interface FromMembers {
  /** Of those that were started, in order. */
  admins: Connection[];
}

export type MembersProcess = ServedProcess<ToMembers, FromMembers>;

/** A process that holds simulated members, and has none yet. `flags` are Node's: without them it runs compiled packages. */
export function startMembersProcess(signal: AbortSignal, flags: readonly string[] = []): Promise<MembersProcess> {
  return ServedProcess.start<ToMembers, FromMembers>(new URL('./members-process.js', import.meta.url), signal, {
    environment: COMPACT_HEAP_ENVIRONMENT,
    flags,
  });
}
