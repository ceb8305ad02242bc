import type { IncomingMessage } from 'node:http';
import { openRequest, readAnswer, type Target } from '../conformance/send-request.ts';
import { SENTINEL, type WatchStep } from './differential-case.ts';

export interface OpenWatch {
  /** Resolves when the sentinel has come, or the server ended the watch; of a watch that was refused, one `refused`. */
  events: Promise<unknown[]>;
  close(): void;
}

const GIVE_UP_MS = 20_000;

/** Resolves when the watch is open, or refused. */
export async function watchUntilSentinel(target: Target, watch: WatchStep['watches'][number]): Promise<OpenWatch> {
  const query = { watch: 'true', ...watch.query };
  const response = await openRequest(target, { method: 'GET', path: watch.path, query, headers: watch.headers ?? {} });
  if (response.statusCode !== 200) {
    return { events: readAnswer(response).then((refused) => [{ refused }]), close() {} };
  }
  return { events: readEvents(response, watch.path), close: () => response.destroy() };
}

async function readEvents(response: IncomingMessage, path: string): Promise<unknown[]> {
  const events: unknown[] = [];
  const late = new Error(`no sentinel within ${GIVE_UP_MS / 1_000} s on watch ${path}`);
  const timer = setTimeout(() => response.destroy(late), GIVE_UP_MS);
  try {
    let rest = '';
    for await (const chunk of response.setEncoding('utf8')) {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) events.push(JSON.parse(line));
      if (events.some(isSentinel)) return events;
    }
    return events;
  } catch (error) {
    if (error !== late) throw error;
    return [...events, { late: late.message }];
  } finally {
    clearTimeout(timer);
  }
}

function isSentinel(event: unknown): boolean {
  const { type, object } = event as { type: string; object?: { metadata?: { name?: string }; rows?: unknown[] } };
  if (type !== 'ADDED') return false;
  return object?.metadata?.name === SENTINEL || JSON.stringify(object?.rows ?? '').includes(`"${SENTINEL}"`);
}
