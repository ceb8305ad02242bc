import { type Client, ClientError, type Clock, READ_LIMITS, readBody } from '@asterism/client';
import type { Cluster } from '../../api/index.ts';

type ApiServer = NonNullable<NonNullable<Cluster['status']>['apiServer']>;
type Probe = NonNullable<ApiServer['readyz']>;

/** How a member's API server is: what its probes say, and whether it is ready, and if not, why, fit for a condition. */
export interface Readiness {
  /** Whether an answer came at all. */
  answers: boolean;
  ready: boolean;
  reason: 'ClusterReady' | 'ApiServerNotReady' | 'ApiServerUnreachable' | 'CredentialRefused' | 'HealthForbidden';
  message: string;
  probes: { livez: Probe; readyz: Probe };
}

export interface ReadinessOptions {
  clock: Clock;
  /** How long an answer may take, ms: a server that hangs keeps its connections, so nothing else says soon that it is gone. */
  timeoutMs: number;
  /** Who asks, for messages. Default `the agent`. */
  asker?: string | undefined;
}

/** Asks `/livez` and `/readyz`. Never rejects but for the signal. */
export async function checkReadiness(
  member: Client,
  options: ReadinessOptions,
  signal: AbortSignal,
): Promise<Readiness> {
  const { clock, timeoutMs, asker = 'the agent' } = options;
  const patience = new AbortController();
  const cancel = clock.setTimer(() => patience.abort(), timeoutMs);
  const either = AbortSignal.any([signal, patience.signal]);
  try {
    const [livez, readyz] = await Promise.all([probe(member, '/livez', either), probe(member, '/readyz', either)]);
    return judge(livez, readyz, asker);
  } catch (error) {
    if (signal.aborted) throw error;
    if (patience.signal.aborted) return unreachable(`no answer within ${timeoutMs / 1000} s`, asker);
    if (error instanceof ClientError) return unreachable(error.code, asker);
    throw error;
  } finally {
    cancel();
  }
}

type Answer = Probe & { status: number };

async function probe(member: Client, path: string, signal: AbortSignal): Promise<Answer> {
  const response = await member.request({ method: 'GET', path: `${path}?verbose`, signal });
  const text = (await readBody(response.body, 'the member', { signal, limits: READ_LIMITS.text })).toString();
  const { status } = response;
  if (status === 200) return { ok: true, status };
  const failing = [...text.matchAll(/^\[-\](\S+)/gm)].map((match) => match[1] ?? '');
  const which = failing.length > 0 ? `: failing are ${failing.join(', ')}` : '';
  return {
    ok: false,
    status,
    ...(failing.length > 0 ? { failing } : {}),
    message: `${path} answers ${status}${which}`,
  };
}

function judge(livez: Answer, readyz: Answer, asker: string): Readiness {
  const probes = { livez: told(livez), readyz: told(readyz) };
  const answers = true;
  if (readyz.ok) {
    const message = 'the API server answers and says that it is ready';
    return { answers, ready: true, reason: 'ClusterReady', message, probes };
  }
  if (readyz.status === 401) {
    const message = `the API server answers 401 to ${asker}: its credential is no longer accepted there`;
    return { answers, ready: false, reason: 'CredentialRefused', message, probes };
  }
  if (readyz.status === 403) {
    const message = `the API server answers 403 to ${asker}: it may not read /readyz there; apply its manifests again`;
    return { answers, ready: false, reason: 'HealthForbidden', message, probes };
  }
  return { answers, ready: false, reason: 'ApiServerNotReady', message: readyz.message ?? '', probes };
}

function told({ ok, failing, message }: Answer): Probe {
  return { ok, ...(failing ? { failing } : {}), ...(message === undefined ? {} : { message }) };
}

function unreachable(why: string, asker: string): Readiness {
  const message = `${asker} cannot reach ${asker === 'the agent' ? 'its' : 'the'} API server: ${why}`;
  const silent: Probe = { ok: false, message: why };
  return {
    answers: false,
    ready: false,
    reason: 'ApiServerUnreachable',
    message,
    probes: { livez: silent, readyz: silent },
  };
}
