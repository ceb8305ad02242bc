export { createReachExtension, type ReachOptions } from './reach-extension.ts';
export { type ReachAgentOptions, runReachAgent } from './run-reach-agent.ts';
export { type ReachMode, stricterMode } from './reach-mode.ts';
