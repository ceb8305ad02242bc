// A process behind way.ts: the client. It speaks HTTP/1.1 over TLS, whatever stands between it and the target.
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { AUTHORITY } from '../../packages/client/src/testing/certificates.ts';
import type { Load, LoadAnswer } from './load.ts';

process.on('SIGINT', () => {}); // The parent decides.
process.on('disconnect', () => process.exit(0));

const CHUNK = Buffer.alloc(64 * 1024, 'z');
const agents = new Map<number, Agent>();

function call(port: number, options: { path: string; method?: string }): ReturnType<typeof request> {
  let agent = agents.get(port);
  if (!agent) agents.set(port, (agent = new Agent({ keepAlive: true, maxSockets: 256 })));
  return request({ host: '127.0.0.1', port, agent, ca: AUTHORITY, minVersion: 'TLSv1.3', ...options });
}

async function answerOf(asked: ReturnType<typeof request>): Promise<IncomingMessage> {
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`);
  return response;
}

async function down(port: number, bytes: number): Promise<void> {
  const response = await answerOf(call(port, { path: `/?bytes=${bytes}` }).end());
  let got = 0;
  response.on('data', (chunk: Buffer) => (got += chunk.length));
  await once(response, 'end');
  if (got !== bytes) throw new Error(`got ${got} bytes of ${bytes}`);
}

async function up(port: number, bytes: number): Promise<void> {
  const asked = call(port, { path: '/', method: 'POST' });
  asked.setHeader('content-length', bytes);
  const answer = answerOf(asked);
  for (let left = bytes; left > 0; left -= CHUNK.length) {
    if (!asked.write(left >= CHUNK.length ? CHUNK : CHUNK.subarray(0, left))) await once(asked, 'drain');
  }
  asked.end();
  await once((await answer).resume(), 'end');
}

async function small(port: number): Promise<void> {
  await once((await answerOf(call(port, { path: '/' }).end())).resume(), 'end');
}

/** So many calls one behind the other, in each of several rows at once. */
async function rows(count: number, each: () => Promise<void>, until: () => boolean): Promise<number> {
  let done = 0;
  await Promise.all(
    Array.from({ length: count }, async () => {
      while (!until()) {
        await each();
        done += 1;
      }
    }),
  );
  return done;
}

async function run({ port, kind, streams, bytes, ms }: Load): Promise<LoadAnswer> {
  const began = performance.now();
  if (kind === 'small') {
    const end = began + ms;
    const delays: number[] = [];
    const timed = async (): Promise<void> => {
      const at = performance.now();
      await small(port);
      delays.push(performance.now() - at);
    };
    const done = await rows(streams, timed, () => performance.now() >= end);
    return { perSecond: (done / (performance.now() - began)) * 1000, delaysMs: delays };
  }
  const each = kind === 'down' ? down : up;
  let stopped: IncomingMessage | undefined;
  if (kind === 'down' && ms < 0) stopped = (await answerOf(call(port, { path: '/?bytes=1e12' }).end())).pause();
  const from = performance.now();
  await Promise.all(Array.from({ length: streams }, () => each(port, bytes)));
  const perSecond = ((streams * bytes) / (performance.now() - from)) * 1000;
  stopped?.destroy();
  return { perSecond, delaysMs: [] };
}

process.on('message', (load: Load) => {
  run(load).then(
    (answer) => process.send?.(answer),
    (error: Error) => process.send?.({ failure: error.message }),
  );
});
process.send?.({});
