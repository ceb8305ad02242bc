import type { Readable } from 'node:stream';
import { type Clock, sleep } from '@asterism/client';
import type { Container, LifecycleHandler, Probe } from '@asterism/machinery';
import type { ContainerRef, NodeBackend } from '../../machine/container-runtime.ts';

const { request } = process.getBuiltinModule('node:http');

/** What a kubelet tries out on a container: a probe or a hook. */
export type Check = Pick<Probe, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'> & Pick<LifecycleHandler, 'sleep'>;

export interface CheckTarget {
  backend: Pick<NodeBackend, 'exec' | 'dial'>;
  ref: ContainerRef;
  container: Container;
  /** For messages. */
  podIP: string;
  clock: Clock;
}

/** Undefined where it went well, else what went wrong. */
export type Outcome = string | undefined;

const MAX_OUTPUT = 10 * 1024;

/** Runs a probe or a hook once, for at most `timeoutMs`. Never rejects. A port counts as of the pod, whatever host is named. */
export async function runCheck(check: Check, target: CheckTarget, timeoutMs: number): Promise<Outcome> {
  const over = new AbortController();
  const cancel = target.clock.setTimer(() => over.abort(), timeoutMs, { background: true });
  try {
    return await attempt(check, target, { signal: over.signal, timeoutMs });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    cancel();
    over.abort();
  }
}

interface Limit {
  signal: AbortSignal;
  timeoutMs: number;
}

async function attempt(
  { exec, httpGet, tcpSocket, grpc, sleep: nap }: Check,
  target: CheckTarget,
  limit: Limit,
): Promise<Outcome> {
  if (exec) return await tryCommand(exec.command ?? [], target, limit);
  if (httpGet) return await tryHttp(httpGet, target, limit);
  if (nap) return await sleep(target.clock, nap.seconds * 1000, limit.signal).then(undefined, () => undefined);
  const port = tcpSocket?.port ?? grpc?.port;
  if (port !== undefined) (await dial(port, target)).destroy();
  return undefined;
}

async function tryCommand(command: readonly string[], { backend, ref }: CheckTarget, limit: Limit): Promise<Outcome> {
  const process = await backend.exec(ref, { command, tty: false, stdin: false });
  let timedOut = false;
  limit.signal.addEventListener('abort', () => {
    timedOut = true;
    process.kill('KILL');
  });
  const [out, err, { code }] = await Promise.all([start(process.stdout), start(process.stderr), process.exit]);
  if (timedOut)
    return `command timed out: ${JSON.stringify(command.join(' '))} timed out after ${limit.timeoutMs / 1000}s`;
  return code === 0 ? undefined : `${out}${err}`;
}

/** The beginning of what a stream brings; all of it is read. */
async function start(stream: Readable): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    if (length < MAX_OUTPUT) pieces.push(piece);
    length += piece.length;
  }
  return Buffer.concat(pieces).subarray(0, MAX_OUTPUT).toString();
}

async function tryHttp(
  { path = '/', port, scheme = 'HTTP', httpHeaders = [] }: NonNullable<Probe['httpGet']>,
  target: CheckTarget,
  { signal }: Limit,
): Promise<Outcome> {
  const number = portOf(port, target.container);
  const url = `${scheme.toLowerCase()}://${target.podIP}:${number}${path.startsWith('/') ? path : `/${path}`}`;
  const failed = (why: string): string => `Get ${JSON.stringify(url)}: ${why}`;
  if (scheme === 'HTTPS') return failed('http: server gave HTTP response to HTTPS client');
  const socket = await dial(port, target).catch((error: Error) => error);
  if (socket instanceof Error) return failed(socket.message);
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const headers = {
    'user-agent': 'kube-probe/1.36',
    accept: '*/*',
    host: `${target.podIP}:${number}`,
    ...Object.fromEntries(httpHeaders.map(({ name, value }) => [name, value])),
  };
  const asked = request({
    createConnection: () => socket,
    method: 'GET',
    path: new URL(url).pathname + new URL(url).search,
    headers,
    signal,
  });
  asked.on('response', (response) => {
    response.resume();
    const { statusCode = 0 } = response;
    resolve(statusCode >= 200 && statusCode < 400 ? undefined : `HTTP probe failed with statuscode: ${statusCode}`);
  });
  asked.on('error', () =>
    resolve(failed('context deadline exceeded (Client.Timeout exceeded while awaiting headers)')),
  );
  asked.end();
  const outcome = await promise;
  asked.destroy();
  socket.destroy();
  return outcome;
}

async function dial(port: string | number, { backend, ref, container, podIP }: CheckTarget) {
  const number = portOf(port, container);
  const socket = await backend.dial(ref, number).catch(() => {
    throw new Error(`dial tcp ${podIP}:${number}: connect: connection refused`);
  });
  socket.on('error', () => {});
  return socket;
}

function portOf(port: string | number, container: Container): number {
  const number = Number(container.ports?.find(({ name }) => name === port)?.containerPort ?? port);
  if (!Number.isInteger(number)) throw new Error(`couldn't find port: ${port}`);
  return number;
}
