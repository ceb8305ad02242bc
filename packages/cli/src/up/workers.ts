import { join } from 'node:path';
import { systemClock } from '@asterism/client';
import type { AgentConfig } from './agents-process.ts';
import { fileLogger } from '../log/json-logger.ts';
import type { MemberConfig, MemberReady } from './members-process.ts';
import { WorkerProcess } from './worker-process.ts';

/** The processes beside the hub's: one runs every member, the other every agent. */
export interface Workers {
  members: WorkerProcess<MemberConfig, MemberReady>;
  agents: WorkerProcess<AgentConfig, object>;
  /** Agents first, then members. */
  stop(): Promise<void>;
}

/** Starts both, with nothing to run yet: they load their code while the hub starts. */
export function startWorkers(dataDir: string): Workers {
  const logger = fileLogger(join(dataDir, 'logs', 'processes.log'));
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const worker = <Config, Ready>(name: string): WorkerProcess<Config, Ready> => {
    const entry = new URL(`./${name}-process.${extension}`, import.meta.url);
    return new WorkerProcess<Config, Ready>({ name, entry, logger, clock: systemClock });
  };
  const members = worker<MemberConfig, MemberReady>('members');
  const agents = worker<AgentConfig, object>('agents');
  return {
    members,
    agents,
    async stop() {
      await agents.stop();
      await members.stop();
    },
  };
}
