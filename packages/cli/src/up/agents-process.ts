import { type AgentOptions, runAgent } from '@asterism/agent';
import { runWorker } from './run-worker.ts';
import { fileLogger } from '../log/json-logger.ts';

export interface AgentConfig extends Omit<AgentOptions, 'logger' | 'signal'> {
  logFile: string;
}

runWorker<AgentConfig, Record<string, never>>(async ({ logFile, ...options }, signal) => {
  const agent = runAgent({ ...options, logger: fileLogger(logFile), signal });
  await Promise.race([agent.ready, agent.done]);
  return { ready: {}, done: agent.done };
});
