import { isIPv6 } from 'node:net';

/** An IP address as a number. */
export interface Address {
  family: 4 | 6;
  value: bigint;
}

/** Reads an address as Go's `netip.ParseAddr` does, or returns its fault. A zone and an IPv4 address within IPv6 are refused, as Kubernetes does. */
export function parseAddress(text: string): Address | { fault: string } {
  const fault = (why: string): { fault: string } => ({
    fault: `IP Address ${JSON.stringify(text)} parse error during conversion from string: ParseAddr(${JSON.stringify(text)}): ${why}`,
  });
  const first = /[.:%]/.exec(text)?.[0];
  if (first === undefined) return fault('unable to parse IP');
  if (first === '%') return fault('missing IPv6 address');
  if (first === '.') {
    const address = parseV4(text);
    return typeof address === 'string' ? fault(address) : address;
  }
  const percent = text.indexOf('%');
  if (!isIPv6(percent < 0 ? text : text.slice(0, percent))) return fault('unable to parse IP');
  if (percent === text.length - 1) return fault('zone must be a non-empty string');
  if (percent >= 0) return { fault: `IP address ${JSON.stringify(text)} with zone value is not allowed` };
  const value = valueOfV6(text);
  if (value >> 32n === 0xffffn) return { fault: `IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed` };
  return { family: 6, value };
}

function parseV4(text: string): Address | string {
  const bad = /[^0-9.]/.exec(text);
  if (bad) return `unexpected character (at ${JSON.stringify(text.slice(bad.index))})`;
  const fields = text.split('.');
  for (const [index, field] of fields.entries()) {
    if (field === '')
      return `IPv4 field must have at least one digit${index < fields.length - 1 ? ` (at ${JSON.stringify(fields.slice(index).join('.'))})` : ''}`;
    if (field.length > 1 && field.startsWith('0')) return 'IPv4 field has octet with leading zero';
    if (field.length > 3 || Number(field) > 255) return 'IPv4 field has value >255';
    if (index > 3) return 'IPv4 address too long';
  }
  if (fields.length < 4) return 'IPv4 address too short';
  return { family: 4, value: fields.reduce((value, field) => value * 256n + BigInt(field), 0n) };
}

/** The text must be an IPv6 address. */
function valueOfV6(text: string): bigint {
  const [head = '', tail] = canonicalV6(text).split('::');
  const groups = (part: string | undefined): string[] => (part ? part.split(':') : []);
  const zeros = Array.from({ length: 8 - groups(head).length - groups(tail).length }, () => '0');
  return [...groups(head), ...zeros, ...groups(tail)].reduce(
    (value, group) => (value << 16n) + BigInt(`0x${group}`),
    0n,
  );
}

/** RFC 5952, which URLs use. */
function canonicalV6(text: string): string {
  return new URL(`http://[${text}]`).hostname.slice(1, -1);
}

export function formatAddress({ family, value }: Address): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  return canonicalV6(groups.join(':'));
}

/** A network `10.0.0.0/8`, its host bits as they are written. */
export interface Prefix {
  address: Address;
  bits: number;
}

/** Reads a network as Go's `netip.ParsePrefix` does, or returns its fault. */
export function parsePrefix(text: string): Prefix | { fault: string } {
  const prefix = 'network address parse error during conversion from string: ';
  const fault = (why: string): { fault: string } => ({
    fault: `${prefix}${prefix}netip.ParsePrefix(${JSON.stringify(text)}): ${why}`,
  });
  const slash = text.lastIndexOf('/');
  if (slash < 0) return fault("no '/'");
  const address = parseAddress(text.slice(0, slash));
  if ('fault' in address) {
    if (!address.fault.startsWith('IP Address'))
      return { fault: prefix + address.fault.replace(/^IP address/, 'CIDR') };
    return fault(address.fault.slice(address.fault.indexOf('ParseAddr(')));
  }
  const bits = text.slice(slash + 1);
  if (!/^(?:0|[1-9][0-9]{0,2})$/.test(bits)) return fault(`bad bits after slash: ${JSON.stringify(bits)}`);
  if (Number(bits) > lengthOf(address)) return fault('prefix length out of range');
  return { address, bits: Number(bits) };
}

export function lengthOf({ family }: Address): number {
  return family === 4 ? 32 : 128;
}

/** The address without the bits of its host. */
export function maskAddress(address: Address, bits: number): Address {
  const host = BigInt(lengthOf(address) - bits);
  return { ...address, value: (address.value >> host) << host };
}
