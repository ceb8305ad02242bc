import { type Clock, sleep } from './clock.ts';
import type { Refusals } from './refusals.ts';

/** Between when a credential is valid, in ms since 1970. */
export interface Validity {
  from: number;
  until: number;
}

export interface KeepRenewedOptions {
  clock: Clock;
  /** Of the credential that is in use. Without it the first renewal comes at once. */
  validity?: Validity | undefined;
  /** Gets another credential and puts it into use. Resolves with its validity, `from` now by this machine's clock. */
  renew(): Promise<Validity>;
  /** Called after each failure. Returns how long to wait before the next attempt, in ms. */
  failed(error: unknown): number | Promise<number>;
  /** Where 401 answers to the credential in use are reported. */
  refusals?: Refusals | undefined;
}

/** A credential is renewed after this part of its life. */
const SHARE = 2 / 3;
/** The clock is read this often, or oftener if the life is short: so soon after it was set, or the machine woke up. */
const LOOKS = { longestMs: 60_000, perLife: 240, shortestMs: 250 };
/** A server whose credentials have ended when they arrive is not asked more often than this. */
const APART_MS = 5_000;
/** A refused credential is not renewed more often than this. A server may refuse every credential. */
const REFUSED_APART_MS = 60_000;
/** A clock that is set back by less than this is within what servers tolerate of a token's `nbf`. */
const EARLY_MS = 60_000;

/**
 * Keeps a credential renewed until the signal aborts: a certificate, or a token. Everything that renews before an expiry does it here.
 *
 * R1 A renewal is due when two thirds of the life are over by the wall clock, or by the monotonic clock, whichever comes first. The wall clock
 *    goes on while a machine sleeps, and the monotonic clock cannot be set back.
 *    It is also due when the wall clock shows a time before its life began: somebody has set it back, and a server with that clock refuses a
 *    credential that is not valid yet.
 * R2 Nobody waits for it by one long timer: timers stop while a machine sleeps, and know nothing of a clock that is set. The clocks are read
 *    again after 1/240 of the life, at least every minute.
 * R3 Failures are retried when `failed` says so.
 * R4 It is also due when a server refuses the credential in use (401), at most once a minute. A credential can be revoked before it expires.
 */
export async function keepRenewed(options: KeepRenewedOptions, signal: AbortSignal): Promise<void> {
  const { clock, renew, failed, refusals } = options;
  let { validity } = options;
  let heedsFrom = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    if (validity !== undefined) await untilDue({ clock, validity, refusals, heedsFrom }, signal);
    if (signal.aborted) return;
    try {
      const renewed = await renew();
      if (renewed.until <= clock.wall().getTime()) await pause(clock, APART_MS, signal);
      validity = renewed;
      refusals?.clear();
      heedsFrom = clock.monotonic() + REFUSED_APART_MS;
    } catch (error) {
      if (signal.aborted) return;
      await pause(clock, await failed(error), signal);
      // It stays due, whatever the clocks say meanwhile.
      validity = undefined;
    }
  }
}

interface Waiting {
  clock: Clock;
  validity: Validity;
  refusals: Refusals | undefined;
  /** From when on a refusal counts, by the monotonic clock. */
  heedsFrom: number;
}

async function untilDue(waiting: Waiting, signal: AbortSignal): Promise<void> {
  const { clock, refusals, heedsFrom } = waiting;
  const { from, until } = waiting.validity;
  const life = Math.max(0, until - from);
  const at = from + life * SHARE;
  const deadline = clock.monotonic() + Math.max(0, at - clock.wall().getTime());
  const look = Math.min(LOOKS.longestMs, Math.max(LOOKS.shortestMs, life / LOOKS.perLife));
  while (!signal.aborted) {
    const now = clock.wall().getTime();
    const refused = refusals?.pending ? heedsFrom : Number.POSITIVE_INFINITY;
    const left = Math.min(at - now, Math.min(deadline, refused) - clock.monotonic());
    if (left <= 0 || now < from - EARLY_MS) return;
    await pauseUnlessRefused(waiting, Math.min(left, look), signal);
  }
}

/** Ends early, and without an error, when the signal aborts. */
async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  await sleep(clock, ms, signal).catch(() => {});
}

/** Also ends early when a refusal is reported. */
async function pauseUnlessRefused({ clock, refusals }: Waiting, ms: number, signal: AbortSignal): Promise<void> {
  if (refusals === undefined) return await pause(clock, ms, signal);
  const over = new AbortController();
  const end = (): void => over.abort();
  signal.addEventListener('abort', end, { once: true });
  const forget = refusals.onReport(end);
  if (signal.aborted) end();
  await pause(clock, ms, over.signal);
  forget();
  signal.removeEventListener('abort', end);
}
