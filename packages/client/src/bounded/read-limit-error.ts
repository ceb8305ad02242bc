import { channel } from 'node:diagnostics_channel';
import { ClientError } from '../client-error.ts';

/**
 * Which limit was reached. `budget`: the bytes of all answers of one server together. `pages`: a list that does not end.
 * `held`: what an informer holds of a kind. */
export type ReadLimit = 'bytes' | 'deadline' | 'idle' | 'depth' | 'items' | 'budget' | 'pages' | 'held';

export interface Refusal {
  limit: ReadLimit;
  /** What sent the answer, for messages: a URL, or the name of a cluster. */
  source: string;
  /** What the answer was for; the `use` of the limits. */
  use: string;
  /** What the answer has too much of: `more than 1024 bytes`. */
  excess: string;
}

/** Publishes a {@link Refusal} for each answer that was refused, so that a process can count them. */
export const READ_REFUSALS = 'kubernetes-client:read-refused';

const refusals = channel(READ_REFUSALS);

/** The code of every {@link ReadLimitError}. */
export const READ_LIMIT_CODE = 'ERR_READ_LIMIT';

const REMEDIES: Readonly<Record<ReadLimit, string>> = {
  bytes: 'ask for less, or check the server',
  deadline: 'check the server and the network to it',
  idle: 'check the server and the network to it',
  depth: 'check the server',
  items: 'ask for less, or check the server',
  budget: 'ask for less at the same time, or check the server',
  pages: 'check the server',
  held: 'delete objects that are not needed, or check the server',
};

/** An answer has more than a client reads. The rest of it is not read, and the request is ended. */
export class ReadLimitError extends ClientError {
  readonly limit: ReadLimit;

  constructor({ limit, source, use, excess }: Refusal) {
    const message = `${source} sent ${excess} (limit for ${use}): ${REMEDIES[limit]}`;
    super(message, { code: READ_LIMIT_CODE, server: source });
    this.limit = limit;
  }
}

/** Whether an answer was refused because it was too large, so that asking for less can help. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof ReadLimitError && (error.limit === 'bytes' || error.limit === 'items');
}

/** Makes the error, and publishes the refusal. */
export function refuseReading(refusal: Refusal): ReadLimitError {
  if (refusals.hasSubscribers) refusals.publish(refusal);
  return new ReadLimitError(refusal);
}
