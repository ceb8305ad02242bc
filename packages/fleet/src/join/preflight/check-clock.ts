import { type Finding, fault, fine, remark } from '../finding.ts';

/** A certificate is valid from five minutes before it is signed: a clock that is further behind does not take it yet. */
const FAULT_MS = 5 * 60_000;
/** Below this nothing that people read (ages, logs) looks wrong. */
const REMARK_MS = 30_000;
/** What a `Date` header, in whole seconds, cannot tell. */
const RESOLUTION_MS = 1_000;

/**
 * How far another machine's clock is ahead of this one's, in ms, by the `Date` header of an answer that was asked for at `sent` and
 * came at `received`; undefined where it has none. What lies between the two is given away in this clock's favour.
 */
export function clockSkew(date: string | undefined, sent: number, received: number): number | undefined {
  const told = Date.parse(date ?? '');
  if (Number.isNaN(told)) return undefined;
  if (told > received) return told - received;
  if (told + RESOLUTION_MS < sent) return told + RESOLUTION_MS - sent;
  return 0;
}

/** @param aheadMs how far the clock of `whose` is ahead of this machine's */
export function clockFinding(check: string, whose: string, aheadMs: number | undefined): Finding {
  if (aheadMs === undefined) return remark(check, `${whose} does not tell its time`);
  const off = Math.abs(aheadMs);
  if (off < REMARK_MS) return fine(check, `${whose} and this machine agree on the time`);
  const message = `the clock of ${whose} is ${formatDuration(off)} ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine's`;
  const remedy = 'set both right (NTP)';
  return off < FAULT_MS
    ? remark(check, message, remedy)
    : fault(check, `${message}: certificates would not be valid yet, or no longer`, remedy);
}

/** `45 s`, `7 min`, `3 h`. */
export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
