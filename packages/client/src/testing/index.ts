export { ALICE_CERT, ALICE_KEY, AUTHORITY, BOB_KEY, OTHER_AUTHORITY, SERVER_CERT, SERVER_KEY } from './certificates.ts';
export { type ConnectProxy, startConnectProxy } from './connect-proxy.ts';
export { type FakeHandler, reply, startFakeServer } from './fake-server.ts';
export { ManualClock } from './manual-clock.ts';
export { until } from './until.ts';
