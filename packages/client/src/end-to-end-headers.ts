import type { Headers } from './transport.ts';

const CONNECTION = 'connection';

/**
 * Headers of one connection alone (RFC 9110 7.6.1), headers that a sender makes itself, and headers that some servers read as another
 * method than the one that was authorized.
 */
const HOP_BY_HOP = new Set([
  'connection',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
]);

/**
 * The headers that a proxy sends on, with their names in lower case: without those of one hop, without those that `Connection`
 * names, and without HTTP/2's pseudo headers. A repeated header stays an array in its order.
 */
export function endToEndHeaders(headers: Readonly<Headers> = {}): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  const named = namedByConnection(headers);
  for (const given of Object.keys(headers)) {
    const value = headers[given];
    const name = given.toLowerCase();
    if (value === undefined || name.startsWith(':') || HOP_BY_HOP.has(name) || named?.has(name)) continue;
    // An assignment would be one of the object's prototype.
    if (name === '__proto__') continue;
    kept[name] = typeof value === 'string' ? value : value.length === 1 ? (value[0] as string) : [...value];
  }
  return kept;
}

/** Undefined where it names none, as nearly always. */
function namedByConnection(headers: Readonly<Headers>): Set<string> | undefined {
  let named: Set<string> | undefined;
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (name.length !== CONNECTION.length || name.toLowerCase() !== CONNECTION || value === undefined) continue;
    named ??= new Set();
    for (const token of [value].flat().join(',').split(',')) named.add(token.trim().toLowerCase());
  }
  return named;
}
