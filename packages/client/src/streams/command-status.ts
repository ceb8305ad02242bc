import { parseJson, type Status } from '@asterism/machinery';
import { ClientError } from '../client-error.ts';

/** How a command ended: with a code, or in another way. */
export type CommandOutcome = { code: number } | { error: ClientError };

/**
 * Reads what the error channel said (`v4.channel.k8s.io` and later): a Status, whose cause `ExitCode` is that of a command that
 * ran to its end. What is said in it of anything else becomes an `ERR_COMMAND` in the same words.
 */
export function readCommandStatus(text: string): CommandOutcome {
  const status = parseStatus(text);
  if (status === undefined) return failed(text.trim() === '' ? 'the server did not tell how the command ended' : text);
  if (status.status === 'Success') return { code: 0 };
  const causes = status.details?.causes ?? [];
  const code = causes.find(({ reason }) => reason === 'ExitCode')?.message;
  if (code !== undefined && /^\d{1,10}$/.test(code)) return { code: Number(code) };
  return failed(status.message ?? 'the command failed, and the server did not say how');
}

function failed(message: string): CommandOutcome {
  return { error: new ClientError(message, { code: 'ERR_COMMAND' }) };
}

function parseStatus(text: string): Partial<Status> | undefined {
  try {
    const value = parseJson(text) as Partial<Status> | null;
    return typeof value === 'object' && value !== null && typeof value.status === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
