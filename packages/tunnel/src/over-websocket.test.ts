import { dialAllBy } from './testing/start-tunnel.ts';

/** Whatever the tunnel does over bare sockets it does over WebSocket: the same suites once more. */
dialAllBy('websocket');
await import('./coming-back.test.ts');
await import('./flow.test.ts');
await import('./life.test.ts');
await import('./lost-line.test.ts');
await import('./drain.test.ts');
await import('./requests.test.ts');
await import('./spare-connections.test.ts');
await import('./strangers.test.ts');
await import('./upgrades.test.ts');
