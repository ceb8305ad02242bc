import { offerNoFrames } from './testing/start-tunnel.ts';

/** Whatever the tunnel does over frames it does over HTTP/2, with an end that knows of nothing else: the same suites once more. */
offerNoFrames();
await import('./flow.test.ts');
await import('./life.test.ts');
await import('./requests.test.ts');
await import('./spare-connections.test.ts');
