import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { failure } from '@asterism/machinery';
import type { NodeBackend } from '../machine/container-runtime.ts';
import { beginLog } from './begin-log.ts';
import type { KubeletOptions } from './kubelet.ts';
import { containerOf, pageNotFound, readPath, requireBackend } from './kubelet-path.ts';
import { readLogQuery } from './log-query.ts';
import { negotiateUpgrade } from './negotiate-upgrade.ts';
import { summarize } from './pod-summary.ts';

/** What a kubelet answers without an Upgrade. `signal` aborts when the client leaves. */
export async function answerRequest(
  options: KubeletOptions,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const { route, rest, query } = readPath(request.url);
  const path = [route, ...rest].join('/');
  switch (path === 'stats/summary' || path === 'stats/summary/' ? 'stats' : route) {
    case 'healthz':
      requireMethod(request, 'GET', 'HEAD');
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end('ok');
      return;
    case 'pods':
    case 'runningpods':
      requireMethod(request, 'GET');
      sendJson(response, { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: options.pods() });
      return;
    case 'stats': {
      requireMethod(request, 'GET', 'POST');
      const usages = options.backends().flatMap((backend) => backend.stats());
      sendJson(response, summarize(options.nodeName, usages, options.pods(), options.clock.wall().toISOString()));
      return;
    }
    case 'containerLogs':
      requireMethod(request, 'GET');
      return await sendLog(options, rest, query, { response, signal });
    case 'run':
      requireMethod(request, 'POST');
      return await run(options, rest, query, { response, signal });
    case 'exec':
    case 'attach':
    case 'portForward':
      negotiateUpgrade(request.headers, { spdy: [], websocket: [] });
      throw pageNotFound();
    default:
      throw pageNotFound();
  }
}

interface Answering {
  response: ServerResponse;
  signal: AbortSignal;
}

async function sendLog(
  options: KubeletOptions,
  rest: readonly string[],
  query: URLSearchParams,
  { response, signal }: Answering,
): Promise<void> {
  const ref = containerOf(rest);
  const tail = query.get('tail') ?? '';
  if (tail !== '') query.set('tailLines', tail === 'all' ? '' : tail);
  const logOptions = readLogQuery(query, ref.pod);
  const backend = requireBackend(options, ref, `pod "${ref.pod}" does not exist`);
  const body = await beginLog(backend, { ref, options: logOptions }, signal);
  response.writeHead(200, { 'content-type': 'text/plain' });
  response.flushHeaders();
  await pipeline(Readable.from(body, { objectMode: false, highWaterMark: 0 }), response);
}

const MAX_RUN_BYTES = 16 * 1024 * 1024;

/** Runs a command to its end and answers its output. */
async function run(
  options: KubeletOptions,
  rest: readonly string[],
  query: URLSearchParams,
  { response, signal }: Answering,
): Promise<void> {
  const ref = containerOf(rest);
  const backend = requireBackend(options, ref);
  const output = await outputOf(backend, ref, (query.get('cmd') ?? '').split(' '), signal);
  response.writeHead(200, { 'content-type': 'application/json' }).end(output);
}

async function outputOf(
  backend: NodeBackend,
  ref: ReturnType<typeof containerOf>,
  command: readonly string[],
  signal: AbortSignal,
): Promise<Buffer> {
  const process = await backend.exec(ref, { command, tty: false, stdin: false });
  const kill = (): void => process.kill('KILL');
  signal.addEventListener('abort', kill, { once: true });
  try {
    const [stdout, stderr, { code }] = await Promise.all([
      bounded(process.stdout, kill),
      bounded(process.stderr, kill),
      process.exit,
    ]);
    const output = Buffer.concat([stdout, stderr]);
    if (code === 0) return output;
    throw failure(500, `command '${command.join(' ')}' exited with ${code}: ${output.toString('utf8')}`);
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

async function bounded(stream: Readable, tooMuch: () => void): Promise<Buffer> {
  let length = 0;
  stream.on('data', (piece: Uint8Array) => {
    length += piece.length;
    if (length > MAX_RUN_BYTES) tooMuch();
  });
  return await buffer(stream);
}

function requireMethod({ method = '' }: IncomingMessage, ...allowed: readonly string[]): void {
  if (!allowed.includes(method)) throw failure(405, 'Method Not Allowed');
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
