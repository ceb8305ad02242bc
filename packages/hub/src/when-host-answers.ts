import { ClientError, type Clock, sleep } from '@asterism/client';
import { StatusError } from '@asterism/machinery';
import { backoff, type Logger } from '@asterism/runtime';
import { HubError } from './hub-error.ts';

/** What no time mends: the wrong server, a certificate that is not valid, credentials that cannot be read. */
const HOPELESS =
  /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(GET|VERIFY)_|ERR_TLS_|ERR_SSL_|ERR_KUBECONFIG|ERR_SERVER_URL|ERR_CERTIFICATE|ERR_TOKEN_FILE|ERR_EXEC_|EACCES|ENOENT)/;

const RETRY = { initialMs: 500, factor: 2, capMs: 10_000, jitter: 0.2 };

/**
 * For how long the host may refuse this identity: just started, it does not know its own roles yet; and whoever installs the
 * hub may apply its rights a moment after it.
 */
const REFUSING_MS = 30_000;

export interface HostPatience {
  /** What messages call the host. */
  server: string;
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
  /** Default 30 s. */
  refusingMs?: number | undefined;
}

/**
 * Calls until it succeeds: a host that is away, starting or overloaded is waited for without end. Rejects with `HubError`
 * `HostUnusable` or `HostRefuses`, with any other error as it is, and with the signal's reason.
 */
export async function whenHostAnswers<T>(call: () => Promise<T>, patience: HostPatience): Promise<T> {
  const { server, clock, logger, signal, refusingMs = REFUSING_MS } = patience;
  const delays = backoff({ ...RETRY, random: Math.random });
  const began = clock.monotonic();
  for (;;) {
    signal.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      signal.throwIfAborted();
      const { wait, meaning } = judge(error, server);
      if (wait === 'Never' || (wait === 'AWhile' && clock.monotonic() - began >= refusingMs)) throw meaning;
      const waitMs = delays.next();
      logger.warn({ server, err: error, waitMs: Math.round(waitMs) }, `waiting for ${server}: ${messageOf(error)}`);
      await sleep(clock, waitMs, signal);
    }
  }
}

interface Judgement {
  wait: 'Never' | 'AWhile' | 'Forever';
  /** What to tell whoever started the hub, when it is not waited for any longer. */
  meaning: unknown;
}

function judge(error: unknown, server: string): Judgement {
  const known = knownCause(error);
  const message = messageOf(error);
  if (known instanceof ClientError) {
    if (!HOPELESS.test(known.code)) return { wait: 'Forever', meaning: error };
    const meaning = new HubError(
      'HostUnusable',
      `the API server ${server} cannot be used (${known.code}): ${message}`,
      error,
    );
    return { wait: 'Never', meaning };
  }
  switch (known?.code) {
    case 401:
      return {
        wait: 'AWhile',
        meaning: new HubError(
          'HostRefuses',
          `the API server ${server} does not know this hub: check the credentials in the kubeconfig`,
          error,
        ),
      };
    case 403:
      return {
        wait: 'AWhile',
        meaning: new HubError(
          'HostRefuses',
          `the API server ${server} refuses this hub: ${message}. Apply the output of \`aster hub manifests\` there, and use ` +
            'the account that it names',
          error,
        ),
      };
    case 404: // what it makes itself, at its first start
      return { wait: 'AWhile', meaning: error };
    case 409:
    case 429:
      return { wait: 'Forever', meaning: error };
    default:
      return { wait: known && known.code >= 500 ? 'Forever' : 'Never', meaning: error };
  }
}

/** The failed call, however it was told on. */
function knownCause(error: unknown): ClientError | StatusError | undefined {
  if (error instanceof ClientError || error instanceof StatusError) return error;
  return error instanceof Error && !(error instanceof HubError) && error.cause !== undefined
    ? knownCause(error.cause)
    : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
