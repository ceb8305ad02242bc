// A server in a process of its own, so that its memory is its own: told where it listens, asked for its memory.
import { setTimeout as delay } from 'node:timers/promises';
import { keepHeapCompact } from '@asterism/runtime';
import { startTestServer } from '@asterism/apiserver/testing';

const complaints: string[] = [];
const logger = {
  debug() {},
  info() {},
  warn() {},
  error(fields: object, message: string) {
    const { err, method = '', path = '' } = fields as { err?: Error; method?: string; path?: string };
    complaints.push(`${message}: ${method} ${path}: ${err?.stack ?? ''}`);
  },
};
process.on('uncaughtException', (error) => complaints.push(`uncaught: ${error.stack}`));

const server = await startTestServer({ logger });
const token = server.tokenFor({ username: 'fuzz', groups: ['system:masters'] });
keepHeapCompact(new AbortController().signal);
process.send?.({ url: server.url, ca: server.ca.cert, token });

process.on('message', () => void report());
process.on('disconnect', () => process.exit());

async function report(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.();
    await delay(100);
  }
  process.send?.({
    rss: process.memoryUsage.rss(),
    heap: process.memoryUsage().heapUsed,
    complaints: complaints.splice(0),
  });
}
