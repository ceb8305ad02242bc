export { JoinError, type JoinErrorCode } from '@asterism/fleet/join';
export * from './agent-options.ts';
export * from './run-agent.ts';
