import { Readable } from 'node:stream';
import { type Clock, sleep, type TransportResponse, type UpgradeResponse } from '@asterism/client';
import { failure, type StatusError } from '@asterism/machinery';
import { CALLERS_ROLE } from '../api/index.ts';
import { refusedFor } from './refusal.ts';

/** A refusal is short; a longer body is something else and is not looked at. */
const MAX_BYTES = 16 * 1024;

/** What every API server says, in JSON or protobuf, where an account may not come as somebody; from 1.35 on `impersonate-on:…`. */
const SAYS = 'cannot impersonate';

/**
 * Whether the member refused the hub, or the agent, and not the caller: it may not come as that user or with that group. The
 * rights for a new caller take a moment to get there. Gives the answer back with its body whole.
 */
async function refusesImpersonation<A extends TransportResponse>(answer: A): Promise<{ refuses: boolean; answer: A }> {
  if (answer.status !== 403) return { refuses: false, answer };
  if (answer.bytes) return { refuses: Buffer.from(answer.bytes).includes(SAYS), answer };
  const iterator = answer.body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  let done = false;
  while (!done && bytes <= MAX_BYTES) {
    const next = await iterator.next();
    done = next.done === true;
    if (next.done) break;
    pieces.push(next.value);
    bytes += next.value.byteLength;
  }
  const rest = done ? [] : { [Symbol.asyncIterator]: () => iterator };
  const body = Readable.from(inTurn(pieces, rest), { objectMode: false });
  return { refuses: Buffer.concat(pieces).includes(SAYS), answer: { ...answer, body } };
}

async function* inTurn(
  first: Iterable<Uint8Array>,
  second: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* first;
  yield* second;
}

/** How long the rights for a new caller are waited for, where the call can be sent again; between two tries at first. In ms. */
const PATIENCE_MS = 3_000;
const FIRST_WAIT_MS = 50;

export interface SendOptions {
  clusterName: string;
  /** Set where it goes past the member's API server, and in nobody's name: it is sent once. */
  destination?: string | undefined;
  username: string;
  /** Whether the call may be sent again: nothing of a body has gone. */
  replayable: boolean;
  clock: Clock;
  signal: AbortSignal;
}

/**
 * Sends a call, again for a while where the member does not let the hub come as the caller yet. Rejects with a 503 that says when
 * to come again, where it still does not.
 */
export async function sendAsCaller<A extends UpgradeResponse = never>(
  send: () => Promise<A | TransportResponse>,
  { clusterName, destination, username, replayable, clock, signal }: SendOptions,
): Promise<A | TransportResponse> {
  if (destination !== undefined) return await send();
  const until = clock.monotonic() + PATIENCE_MS;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs *= 2) {
    const given = await send();
    if ('socket' in given) return given;
    const { refuses, answer } = await refusesImpersonation(given);
    if (!refuses) return answer;
    if (!replayable || clock.monotonic() + waitMs > until) throw notYetCaller(clusterName, username);
    await sleep(clock, waitMs, signal);
  }
}

/** What the caller is told then: clients of Kubernetes come again by themselves. */
function notYetCaller(clusterName: string, username: string): StatusError {
  const message =
    `cluster "${clusterName}" does not let the hub come as "${username}" yet: its ClusterRole ${CALLERS_ROLE} follows the RBAC of ` +
    'the hub within seconds. If this goes on, see the logs of the hub and of the agent, and whether the role is bound to it there';
  return refusedFor('CannotImpersonate', failure(503, message, { details: { retryAfterSeconds: 1 } }));
}
