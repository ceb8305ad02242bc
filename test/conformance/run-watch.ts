import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '@asterism/machinery';
import { type Answers, fillTemplates } from './fill-templates.ts';
import type { WatchStep } from './scenario.ts';
import { type Answer, openRequest, readAnswer, sendRequest, type Target } from './send-request.ts';

const DEFAULT_TIMEOUT_S = 8;
/** How long an event too many has to show. */
const SETTLE_MS = 250;

/** Opens the watch, makes the requests that go on during it, and reads as many events as `until` says. */
export async function runWatch(
  step: WatchStep,
  before: Answers,
  target: Target,
): Promise<{ answers: Answer[]; events: unknown[] }> {
  const watch = fillTemplates(step.watch, before);
  const response = await openRequest(target, { method: 'GET', ...watch });
  if (response.statusCode !== 200) return { answers: [], events: [{ refused: await readAnswer(response) }] };
  const reading = readEvents(response, step.until.events);
  try {
    const answers: Answer[] = [];
    for (const other of step.during ?? []) {
      if ('sleep' in other) await sleep(other.sleep);
      else answers.push(await sendRequest(target, fillTemplates(other.request, before)));
    }
    const timeout = AbortSignal.timeout((step.until.timeoutSeconds ?? DEFAULT_TIMEOUT_S) * 1_000);
    const timedOut = new Promise<void>((resolve) => timeout.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([reading.enough, timedOut]);
    return { answers, events: reading.events };
  } finally {
    response.destroy();
  }
}

function readEvents(
  response: IncomingMessage,
  wanted: number | undefined,
): { events: unknown[]; enough: Promise<void> } {
  const events: unknown[] = [];
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  let rest = '';
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const event = parseEvent(line);
      if (!isPassingBookmark(event)) events.push(event);
    }
    if (wanted !== undefined && events.length >= wanted) void sleep(SETTLE_MS).then(() => resolve());
  });
  response.on('close', () => resolve());
  response.on('error', () => resolve());
  return { events, enough };
}

/** What is no JSON is an event that no recording has. */
function parseEvent(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return { unreadable: line };
  }
}

/** A bookmark that comes by the clock; the one at the end of the initial events is compared. */
function isPassingBookmark(event: unknown): boolean {
  const { type, object } = event as { type: string; object?: KubeObject & { rows?: { object?: KubeObject }[] } };
  // In a Table the bookmark is a row.
  const { annotations } = (object?.rows?.[0]?.object ?? object)?.metadata ?? {};
  return type === 'BOOKMARK' && annotations?.['k8s.io/initial-events-end'] === undefined;
}
