import { setTimeout as delay } from 'node:timers/promises';
import { Http2Load } from '../load/http2-load.ts';
import type { LoadTarget } from '../load/load-message.ts';

const READY_MS = 60_000;
const POLL_MS = 20;

/** Resolves when `/readyz` says ok; rejects after a minute, with why it does not. */
export async function untilReady(target: LoadTarget, signal: AbortSignal): Promise<void> {
  const end = performance.now() + READY_MS;
  for (;;) {
    try {
      const load = await Http2Load.open(target, 1);
      try {
        await load.send({ method: 'GET', path: '/readyz', concurrency: 1, seconds: 1, most: 1 }, 0);
        return;
      } finally {
        load.close();
      }
    } catch (error) {
      if (performance.now() > end) throw new Error(`${target.url} is not ready: ${(error as Error).message}`);
    }
    await delay(POLL_MS, undefined, { signal });
  }
}
