/** Belong to one connection (RFC 9110 7.6.1): a handler that passes on another server's answer may hand them in. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Whether a header (of any case) belongs to one connection, and so is never passed on. */
export function isHopByHop(name: string): boolean {
  return HOP_BY_HOP.has(name) || HOP_BY_HOP.has(name.toLowerCase());
}
