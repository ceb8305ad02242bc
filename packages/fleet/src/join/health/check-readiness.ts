import { type Client, ClientError, type Clock, readBody } from '@asterism/client';

/** Whether a member's API server says that it is ready, and if not, why, fit for a condition. */
export type Readiness = { ready: true } | { ready: false; reason: string; message: string };

export interface ReadinessOptions {
  clock: Clock;
  /** How long an answer may take, ms: a server that hangs keeps its connections, so nothing else says soon that it is gone. */
  timeoutMs: number;
}

/** Asks `/readyz`. Never rejects but for the signal. */
export async function checkReadiness(
  member: Client,
  { clock, timeoutMs }: ReadinessOptions,
  signal: AbortSignal,
): Promise<Readiness> {
  const patience = new AbortController();
  const cancel = clock.setTimer(() => patience.abort(), timeoutMs);
  try {
    return await ask(member, AbortSignal.any([signal, patience.signal]));
  } catch (error) {
    if (signal.aborted) throw error;
    if (patience.signal.aborted) return unreachable(`no answer within ${timeoutMs / 1000} s`);
    if (error instanceof ClientError) return unreachable(error.code);
    throw error;
  } finally {
    cancel();
  }
}

async function ask(member: Client, signal: AbortSignal): Promise<Readiness> {
  const response = await member.request({ method: 'GET', path: '/readyz?verbose', signal });
  const text = (await readBody(response.body, 'the member', signal)).toString();
  if (response.status === 200) return { ready: true };
  const failing = [...text.matchAll(/^\[-\](\S+)/gm)].map((match) => match[1]);
  const which = failing.length > 0 ? `: failing are ${failing.join(', ')}` : '';
  return { ready: false, reason: 'ApiServerNotReady', message: `/readyz answers ${response.status}${which}` };
}

function unreachable(why: string): Readiness {
  return { ready: false, reason: 'ApiServerUnreachable', message: `the agent cannot reach its API server: ${why}` };
}
