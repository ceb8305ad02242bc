export { ALICE_CERT, ALICE_KEY, AUTHORITY, BOB_KEY, SERVER_CERT, SERVER_KEY } from './certificates.ts';
export { type ConnectProxy, startConnectProxy } from './connect-proxy.ts';
export { ManualClock } from './manual-clock.ts';
