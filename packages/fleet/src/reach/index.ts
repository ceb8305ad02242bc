export { DEFAULT_REACH_LIMITS, type ReachLimits } from './call-limits.ts';
export type { Destinations } from './agent-target.ts';
export { parseDestination, readDestinations } from './destinations.ts';
export { createReachExtension, type ReachOptions } from './reach-extension.ts';
export { type ReachAgentOptions, runReachAgent } from './run-reach-agent.ts';
export { type ReachMode, stricterMode } from './reach-mode.ts';
export { addCallers, addMemberCallers, type MemberCallersOptions } from './callers-controller.ts';
export { type CallersDirectory, createCallersDirectory } from './callers-directory.ts';
