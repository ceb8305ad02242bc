import { isIPv6 } from 'node:net';
import { CommandError, EXIT } from '../exit-code.ts';

/**
 * `HOST:PORT`, `PORT` (this machine alone), `[IPV6]:PORT`. Throws as wrong usage of `flag`: who is served there is asked
 * for nothing, so every address of the machine must be said in so many words.
 */
export function parseStatusListen(text: string, flag = '--status-listen'): { host: string; port: number } {
  const match = /^(?:(?:\[([0-9a-fA-F:]+)\]|([^:]+)):)?(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65535) {
    const what = `${flag}: ${JSON.stringify(text)} is neither PORT nor HOST:PORT`;
    throw new CommandError(`${what}, as in 8080 or 10.0.0.7:8080 (0.0.0.0:8080 is every address)`, EXIT.usage);
  }
  return { host: match[1] ?? match[2] ?? '127.0.0.1', port };
}

/** `HOST:PORT`, `:PORT` (every address), `[IPV6]:PORT`. Throws as wrong usage of `flag`. */
export function parseListen(text: string, flag = '--listen'): { host: string; port: number } {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65535) {
    throw new CommandError(`${flag}: ${JSON.stringify(text)} is not HOST:PORT, as in 127.0.0.1:7443`, EXIT.usage);
  }
  return { host: match[1] ?? (match[2] || '0.0.0.0'), port };
}

/** `HOST`, `HOST:PORT`, `[IPV6]:PORT`, `IPV6`. Throws as wrong usage of `flag`. */
export function parseAdvertise(text: string, flag = '--advertise'): { host: string; port?: number } {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([A-Za-z0-9.-]+))(?::(\d{1,5}))?$/.exec(text);
  const bare = isIPv6(text) ? text : undefined;
  const host = bare ?? match?.[1] ?? match?.[2];
  const port = match?.[3] === undefined ? undefined : Number(match[3]);
  if (host === undefined || port === 0 || (port ?? 0) > 65535) {
    throw new CommandError(
      `${flag}: ${JSON.stringify(text)} is not HOST or HOST:PORT, as in hub.example.org:7443`,
      EXIT.usage,
    );
  }
  return { host, ...(port === undefined ? {} : { port }) };
}
