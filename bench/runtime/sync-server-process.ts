// The process behind sync.ts: a server that is many clusters, told apart by their tokens, each full of pods of its own.
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { SERVER_CERT, SERVER_KEY } from '../../packages/client/src/testing/certificates.ts';
import type { ListsBy, SyncServerAnswer, ToSyncServer } from './sync.ts';
import { syntheticPod } from './synthetic-pod.ts';

process.on('SIGINT', () => {}); // The parent decides.
process.on('disconnect', () => process.exit(0));

const VERSION = '9000000';
const CHUNK = 64 * 1024;

/** The objects of a cluster, each as JSON. */
type Contents = readonly Buffer[];

function contentsOf(cluster: number, objects: number): Contents {
  return Array.from({ length: objects }, (_, index) =>
    Buffer.from(JSON.stringify(syntheticPod(cluster * objects + index))),
  );
}

function* streamOf(contents: Contents): Generator<Buffer> {
  for (const object of contents) yield Buffer.concat([Buffer.from('{"type":"ADDED","object":'), object, END_OF_EVENT]);
  yield bookmark({ 'k8s.io/initial-events-end': 'true' });
}
const END_OF_EVENT = Buffer.from('}\n');

function bookmark(annotations?: object): Buffer {
  const metadata = { resourceVersion: VERSION, annotations };
  return Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object: { kind: 'Pod', apiVersion: 'v1', metadata } })}\n`);
}

/** As a server writes them, which knows nothing of lines. */
function* inChunks(parts: Iterable<Buffer>): Generator<Buffer> {
  let waiting: Buffer[] = [];
  let size = 0;
  for (const part of parts) {
    waiting.push(part);
    size += part.length;
    if (size < CHUNK) continue;
    yield Buffer.concat(waiting);
    [waiting, size] = [[], 0];
  }
  yield Buffer.concat(waiting);
}

function* pageOf(contents: Contents, begin: number, limit: number): Generator<Buffer> {
  const end = Math.min(begin + limit, contents.length);
  const metadata = { resourceVersion: VERSION, continue: end < contents.length ? String(end) : undefined };
  yield Buffer.from(`{"kind":"PodList","apiVersion":"v1","metadata":${JSON.stringify(metadata)},"items":[`);
  for (let index = begin; index < end; index++) {
    if (index > begin) yield Buffer.from(',');
    yield contents[index] ?? Buffer.of();
  }
  yield Buffer.from(']}');
}

function answerWith(response: Http2ServerResponse, parts: Iterable<Buffer>, stays: boolean): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.stream.on('error', () => {}); // The client has gone.
  Readable.from(inChunks(parts)).pipe(response.stream, { end: !stays });
}

function serve(
  { url, headers }: Http2ServerRequest,
  response: Http2ServerResponse,
  { lists, contents }: { lists: ListsBy; contents: readonly Contents[] },
): void {
  const { pathname, searchParams } = new URL(url, 'https://localhost');
  if (pathname !== '/api/v1/pods') {
    response.writeHead(pathname === '/readyz' ? 200 : 404).end();
    return;
  }
  const own = contents[Number(headers.authorization?.split('-')[1])] ?? [];
  if (!searchParams.has('watch')) {
    const limit = Number(searchParams.get('limit') ?? own.length);
    answerWith(response, pageOf(own, Number(searchParams.get('continue') ?? 0), limit), false);
  } else if (!searchParams.has('sendInitialEvents')) answerWith(response, [bookmark()], true);
  else if (lists === 'stream') answerWith(response, streamOf(own), true);
  else {
    const message = 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch';
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Invalid', code: 422, message };
    response.writeHead(422, { 'content-type': 'application/json' }).end(JSON.stringify(status));
  }
}

process.on('message', ({ lists, clusters, objectsEach }: ToSyncServer) => {
  const contents = Array.from({ length: clusters }, (_, cluster) => contentsOf(cluster, objectsEach));
  const server = createSecureServer({ cert: SERVER_CERT, key: SERVER_KEY }, (request, response) =>
    serve(request, response, { lists, contents }),
  );
  server.listen(0, '127.0.0.1', () => {
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    process.send?.({ url } satisfies SyncServerAnswer);
  });
});
process.send?.({ url: '' } satisfies SyncServerAnswer);
