import { CommandError, EXIT } from '../exit-code.ts';

const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Shorter is over before an agent has read it; longer is a password that nobody remembers having made. */
const SHORTEST_MS = 10_000;
const LONGEST_MS = 30 * 86_400_000;

/** Milliseconds of `30s`, `15m`, `1h`, `7d`. Throws as wrong usage of `--ttl`. */
export function parseTtl(text: string): number {
  const match = /^(\d{1,9})([smhd])$/.exec(text);
  if (match === null) {
    throw new CommandError(
      `--ttl: ${JSON.stringify(text)} is not a time: a whole number and its unit, as in 30s, 15m, 1h, 7d`,
      EXIT.usage,
    );
  }
  const ms = Number(match[1]) * (UNITS[match[2] ?? ''] ?? 0);
  if (ms < SHORTEST_MS) throw new CommandError(`--ttl: ${text} is too short: 10s at least`, EXIT.usage);
  if (ms > LONGEST_MS) throw new CommandError(`--ttl: ${text} is too long: 30d at most`, EXIT.usage);
  return ms;
}
