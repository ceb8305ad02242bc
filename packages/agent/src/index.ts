export { JoinError, type JoinErrorCode } from '@asterism/fleet/join';
export type { AgentOptions, AgentTiming } from './agent-options.ts';
export { type Agent, runAgent } from './run-agent.ts';
