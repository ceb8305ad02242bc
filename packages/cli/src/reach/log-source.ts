import type { Readable } from 'node:stream';
import { type Client, responseError } from '@asterism/client';
import { parseGoDuration, PODS, resourcePath } from '@asterism/machinery';
import { CommandError, EXIT } from '../exit-code.ts';

/** What of a log is wanted. */
export interface LogFlags {
  follow?: boolean;
  previous?: boolean;
  timestamps?: boolean;
  tail?: string;
  since?: string;
  sinceTime?: string;
}

/** One log. */
export interface LogSource {
  pod: string;
  container: string;
}

/** The query of a log, without its container. Throws as wrong usage for values that are none. */
export function logQuery(flags: LogFlags, tail: number | undefined): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of ['follow', 'previous', 'timestamps'] as const) if (flags[name]) query.set(name, 'true');
  const lines = flags.tail === undefined ? tail : readTail(flags.tail);
  if (lines !== undefined && lines >= 0) query.set('tailLines', String(lines));
  if (flags.since !== undefined && flags.sinceTime !== undefined) {
    throw new CommandError('--since and --since-time do not go together: choose one', EXIT.usage);
  }
  if (flags.since !== undefined) query.set('sinceSeconds', String(readSince(flags.since)));
  if (flags.sinceTime !== undefined) query.set('sinceTime', readTime(flags.sinceTime));
  return query;
}

function readTail(text: string): number {
  if (/^(-1|\d{1,9})$/.test(text)) return Number(text);
  throw new CommandError(`--tail: ${JSON.stringify(text)} is no number of lines (-1: all of them)`, EXIT.usage);
}

/** Whole seconds, of which the server takes no less than one. */
function readSince(text: string): number {
  try {
    const seconds = Math.ceil(parseGoDuration(text) / 1e9);
    if (seconds > 0) return seconds;
  } catch {
    // Told below.
  }
  throw new CommandError(`--since: ${JSON.stringify(text)} is no time like 30s, 5m or 2h`, EXIT.usage);
}

function readTime(text: string): string {
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new CommandError(`--since-time: ${JSON.stringify(text)} is no time like 2026-01-31T12:00:00Z`, EXIT.usage);
}

/** Opens a log. Rejects with the server's Status where it has none. */
export async function openLog(
  member: Client,
  namespace: string,
  { pod, container }: LogSource,
  query: URLSearchParams,
): Promise<Readable> {
  const all = new URLSearchParams(query);
  all.set('container', container);
  const path = `${resourcePath(PODS, { namespace, name: pod, subresource: 'log' })}?${all.toString()}`;
  const request = { method: 'GET', path, long: true };
  const response = await member.request(request);
  if (response.status >= 400) throw await responseError(request, response);
  return response.body;
}
