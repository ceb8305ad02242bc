// A process behind isolation.ts: the API server of one cluster, whose objects change as often as it is told.
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { SERVER_CERT, SERVER_KEY } from '../../packages/client/src/testing/certificates.ts';
import { type IsolationServerAnswer, monotonicMs, type ToIsolationServer } from './isolation.ts';

process.on('SIGINT', () => {}); // The parent decides.
process.on('disconnect', () => process.exit(0));

/** So many that none changes again before it was worked on. */
const OBJECTS = 500;
const TICK_MS = 5;
const HEAD = { apiVersion: 'bench.example/v1', kind: 'Thing' };
const watches = new Set<Http2ServerResponse>();
/** Newer than all that an earlier process gave. */
let version = Date.now();
let owed = 0;
let perSecond = 0;
let last = monotonicMs();

const things = Array.from({ length: OBJECTS }, (_, index) => ({
  ...HEAD,
  metadata: {
    name: `thing-${index}`,
    namespace: 'bench',
    uid: String(index).padStart(36, '0'),
    resourceVersion: `${version}`,
  },
  spec: { changedAt: 0, text: 'x'.repeat(780) },
}));
let next = 0;

function send(): void {
  const now = monotonicMs();
  owed = Math.min(owed + ((now - last) * perSecond) / 1000, perSecond);
  last = now;
  for (; owed >= 1; owed--) {
    const thing = things[next++ % OBJECTS];
    if (!thing) return;
    thing.metadata.resourceVersion = `${++version}`;
    thing.spec.changedAt = monotonicMs();
    for (const watch of watches) watch.write(eventOf('MODIFIED', thing));
  }
}

function eventOf(type: string, object: object): string {
  return `${JSON.stringify({ type, object })}\n`;
}

function serve({ method, url, headers }: Http2ServerRequest, response: Http2ServerResponse): void {
  const { pathname, searchParams } = new URL(url, `https://${headers[':authority']}`);
  response.writeHead(200, { 'content-type': 'application/json' });
  if (method === 'PATCH') {
    const thing = things.find(({ metadata }) => pathname.endsWith(`/${metadata.name}`));
    response.end(JSON.stringify(thing));
  } else if (searchParams.has('watch')) {
    watches.add(response);
    response.on('close', () => watches.delete(response));
    const initial = searchParams.has('sendInitialEvents');
    if (initial) for (const thing of things) response.write(eventOf('ADDED', thing));
    const annotations = initial ? { 'k8s.io/initial-events-end': 'true' } : {};
    response.write(eventOf('BOOKMARK', { ...HEAD, metadata: { resourceVersion: `${version}`, annotations } }));
  } else response.end(JSON.stringify({ kind: 'ThingList', metadata: { resourceVersion: `${version}` }, items: [] }));
}

process.on('message', (asked: ToIsolationServer) => {
  if ('send' in asked) {
    perSecond = asked.send;
    process.send?.({ port: 0 } satisfies IsolationServerAnswer);
    return;
  }
  const server = createSecureServer({ cert: SERVER_CERT, key: SERVER_KEY }, serve);
  server.listen(asked.listen, '127.0.0.1', () => {
    process.send?.({ port: (server.address() as AddressInfo).port } satisfies IsolationServerAnswer);
  });
});
setInterval(send, TICK_MS);
process.send?.({ port: 0 } satisfies IsolationServerAnswer);
