import { CommandError, EXIT } from '../exit-code.ts';

const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Shorter is over before an agent has read it; longer is a password that nobody remembers having made. */
const TTL = { shortest: '10s', longest: '30d' };

/** Milliseconds of `30s`, `15m`, `1h`, `7d`. Throws as wrong usage of `--ttl`. */
export function parseTtl(text: string): number {
  return parseTime('--ttl', text, TTL);
}

/** The same for another flag, with its own bounds. */
export function parseTime(flag: string, text: string, bounds: { shortest: string; longest: string }): number {
  const ms = millisecondsOf(text);
  if (ms === undefined) {
    throw new CommandError(
      `${flag}: ${JSON.stringify(text)} is not a time: a whole number and its unit, as in 30s, 15m, 1h, 7d`,
      EXIT.usage,
    );
  }
  const { shortest, longest } = bounds;
  if (ms < (millisecondsOf(shortest) ?? 0)) {
    throw new CommandError(`${flag}: ${text} is too short: ${shortest} at least`, EXIT.usage);
  }
  if (ms > (millisecondsOf(longest) ?? 0)) {
    throw new CommandError(`${flag}: ${text} is too long: ${longest} at most`, EXIT.usage);
  }
  return ms;
}

function millisecondsOf(text: string): number | undefined {
  const match = /^(\d{1,9})([smhd])$/.exec(text);
  return match === null ? undefined : Number(match[1]) * (UNITS[match[2] ?? ''] ?? 0);
}
