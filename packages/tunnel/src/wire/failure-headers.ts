import { isTunnelError, TunnelError, type TunnelErrorReason } from '../tunnel-error.ts';
import { headerValue, type WireHeaders } from './headers.ts';
import { messageOf } from './message-of.ts';

/** How an agent says that there is no answer, and why: an answer of the tunnel itself, marked by headers of its own. */

const REASON = 'tunnel-error';
const MESSAGE = 'tunnel-message';
const MAX_MESSAGE = 1000;

/** What an agent may say; anything else is taken for `TARGET`. The last two where its target is a tunnel again. */
const SAID_BY_AGENTS: readonly string[] = [
  'TARGET',
  'REFUSED',
  'LIMIT',
  'NOT_CONNECTED',
  'STALLED',
] satisfies TunnelErrorReason[];

/** What an agent says of a call that its target did not answer. */
export function targetFailure(error: unknown): [TunnelErrorReason, string] {
  if (isTunnelError(error) && SAID_BY_AGENTS.includes(error.reason)) return [error.reason, error.message];
  return ['TARGET', `the agent got no answer from its target: ${messageOf(error)}`];
}

export function failureHeaders(reason: TunnelErrorReason, message: string): WireHeaders {
  return { [REASON]: reason, [MESSAGE]: encodeURIComponent(message.slice(0, MAX_MESSAGE).toWellFormed()) };
}

/** The error that an answer stands for, if it is no answer of the target. `prefix` begins the message. */
export function readFailure(headers: WireHeaders, prefix: string): TunnelError | undefined {
  const reason = headerValue(headers, REASON);
  if (reason === undefined) return undefined;
  const known = SAID_BY_AGENTS.includes(reason) ? (reason as TunnelErrorReason) : 'TARGET';
  return new TunnelError(known, `${prefix}: ${decode(headerValue(headers, MESSAGE) ?? 'no reason was given')}`);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
