import { X509Certificate } from 'node:crypto';
import { CERTIFICATE_SIGNING_REQUESTS, isConflict, isNotFound, type KubeObject } from '@asterism/machinery';
import type { UserInfo } from '../contract/user-info.ts';
import type { Registry } from '../registry/registry.ts';
import { requireResource } from '../registry/require-resource.ts';

const HOUR_MS = 60 * 60 * 1000;
const DECIDED_MS = HOUR_MS;
const UNDECIDED_MS = 24 * HOUR_MS;

interface Request extends KubeObject {
  status?: { conditions?: { type: string; lastUpdateTime?: string }[]; certificate?: string };
}

export interface SigningCleanerOptions {
  registry: Registry;
  user: UserInfo;
  /** Milliseconds since 1970. */
  clock: () => number;
  signal: AbortSignal;
  onError(request: string, error: unknown): void;
}

/** Deletes signing requests that nobody needs any more, every hour until the signal. See {@link isPastUse}. */
export function startSigningCleaner(options: SigningCleanerOptions): void {
  const timer = setInterval(() => {
    cleanSigningRequests(options).catch((error: unknown) => options.onError('certificatesigningrequests', error));
  }, HOUR_MS);
  timer.unref();
  options.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}

/** Once around. */
export async function cleanSigningRequests({ registry, user, clock, signal }: SigningCleanerOptions): Promise<void> {
  const resource = requireResource(registry, CERTIFICATE_SIGNING_REQUESTS);
  const { items } = await registry.list(resource, { signal, skipDamaged: true });
  for (const item of items) {
    const request: Request = item.parse();
    if (signal.aborted || !isPastUse(request, clock())) continue;
    const { name = '', uid } = request.metadata ?? {};
    try {
      await registry.delete(resource, { name }, { preconditions: { uid } }, { user, name });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }
}

/**
 * By upstream's times: an hour after it was denied, failed, or was approved and got its certificate; a day after it was made
 * where nothing came of it; at once where its certificate has expired.
 */
export function isPastUse({ metadata, status = {} }: Request, now: number): boolean {
  const { conditions = [], certificate } = status;
  const isOlder = (time: string | undefined, age: number): boolean =>
    time !== undefined && Date.parse(time) + age < now;
  const decided = (...types: string[]): boolean =>
    conditions.some(({ type, lastUpdateTime }) => types.includes(type) && isOlder(lastUpdateTime, DECIDED_MS));
  if (decided('Denied', 'Failed')) return true;
  if (certificate) return decided('Approved') || hasExpired(certificate, now);
  return conditions.every(({ type }) => type === 'Approved') && isOlder(metadata?.creationTimestamp, UNDECIDED_MS);
}

function hasExpired(certificate: string, now: number): boolean {
  try {
    return new X509Certificate(Buffer.from(certificate, 'base64')).validToDate.getTime() < now;
  } catch {
    return false;
  }
}
