import { endToEndHeaders, type Headers } from '@asterism/client';
import { TunnelError } from '../tunnel-error.ts';

/** Not imported: that would load undici and WebSocket too, 30 ms and 12 MB of a start. */
const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule('node:http');

/** Headers as they are sent: names in lower case, a repeated one as an array in its order. */
export type WireHeaders = Record<string, string | string[]>;

/** Headers of this name belong to the tunnel itself and are never passed on. */
const OWN_PREFIX = 'tunnel-';

/** By which the hub says that a call is a long one. */
const LONG = `${OWN_PREFIX}long`;

/** Says that a call is a long one. */
export function markLong(headers: WireHeaders): void {
  headers[LONG] = '1';
}

/** Whether the hub says that a call is a long one. */
export function isLong(headers: WireHeaders): boolean {
  return headers[LONG] === '1';
}

/** Statuses that have no body (RFC 9110 6.4.1). */
const BODILESS: readonly number[] = [204, 205, 304];

/** Whether an answer has no body, whatever its headers say. */
export function isBodiless(method: string, status: number): boolean {
  return method === 'HEAD' || BODILESS.includes(status);
}

/** The headers that go on to the other end: those that any proxy sends on, without the tunnel's own. */
export function forwardedHeaders(headers: Readonly<Headers> = {}): WireHeaders {
  const kept = endToEndHeaders(headers);
  for (const name of Object.keys(kept)) if (name.startsWith(OWN_PREFIX)) delete kept[name];
  return kept;
}

/** The value of a header that is given in any case; of several the first. */
export function headerValue(headers: Readonly<Headers> | undefined, name: string): string | undefined {
  for (const [given, value] of Object.entries(headers ?? {})) {
    if (given.toLowerCase() === name) return typeof value === 'string' ? value : value?.[0];
  }
  return undefined;
}

/** Gathers name, value, name, value, … without joining what was repeated: `Impersonate-Group: a, b` is one group. */
export function gatherHeaders(raw: readonly string[]): WireHeaders {
  const headers: WireHeaders = {};
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    const value = raw[i + 1] as string;
    // An assignment would be one of the object's prototype.
    if (name === '__proto__') continue;
    const before = Object.hasOwn(headers, name) ? (headers[name] as string | string[]) : undefined;
    headers[name] = before === undefined ? value : [before, value].flat();
  }
  return headers;
}

/**
 * Refuses a header that no receiver could read as it was meant: dropped on the way, a request would go on without, say, its
 * impersonation.
 *
 * @throws TunnelError `PROTOCOL` that names the header.
 */
export function checkHeaders(headers: WireHeaders): void {
  for (const name of Object.keys(headers)) {
    try {
      validateHeaderName(name);
      for (const one of valuesOf(headers, name)) validateHeaderValue(name, one);
    } catch (cause) {
      throw new TunnelError('PROTOCOL', `header ${JSON.stringify(name)} cannot be sent: its name or value is invalid`, {
        cause,
      });
    }
  }
}

/** All values of a header that is there, in their order. */
export function valuesOf(headers: WireHeaders, name: string): readonly string[] {
  const value = headers[name] as string | string[];
  return typeof value === 'string' ? [value] : value;
}

/** The size of a header list as RFC 9113 6.5.2 counts it. */
export function headerBytes(headers: WireHeaders): number {
  let bytes = 0;
  for (const name of Object.keys(headers)) {
    for (const one of valuesOf(headers, name)) bytes += name.length + Buffer.byteLength(one) + 32;
  }
  return bytes;
}
