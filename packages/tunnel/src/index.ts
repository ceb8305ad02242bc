export {
  type ConnectionCount,
  type ReconnectOptions,
  runTunnelAgent,
  type TunnelAgentOptions,
  type TunnelAgentState,
} from './agent/run-tunnel-agent.ts';
export type { Admit, AdmitContext, Refusal } from './agent/serve-context.ts';
export { type CarrierDialler, dialCarriers, type DialCarriersOptions } from './agent/dial-carriers.ts';
export { createTunnelCounters, type EndReason, type TunnelCounters } from './counters.ts';
export { createTunnelHub, type TunnelChange, type TunnelHub, type TunnelHubOptions } from './hub/tunnel-hub.ts';
export { DEFAULT_LIMITS, type TunnelLimits } from './limits.ts';
export {
  isTunnelError,
  TunnelError,
  type TunnelErrorCode,
  type TunnelErrorDetails,
  type TunnelErrorReason,
} from './tunnel-error.ts';
export type { TunnelLogger } from './tunnel-logger.ts';
export { answerTunnelUpgrade, refuseTunnelUpgrade } from './wire/answer-tunnel-upgrade.ts';
export {
  answerCarrier,
  type CarrierAnswer,
  type CarrierKind,
  type CarrierOptions,
  type CarrierRequest,
  requestCarrier,
} from './wire/carriers.ts';
export {
  type ConnectionKind,
  type ConnectionOffer,
  offerHeaders,
  parseOffer,
  TUNNEL_PROTOCOL,
} from './wire/connection-offer.ts';
export { splice } from './wire/splice.ts';
export { upgradeToTunnel, type UpgradeToTunnelOptions } from './wire/upgrade-to-tunnel.ts';
