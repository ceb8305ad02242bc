import type { FieldError } from '@asterism/machinery';
import { invalidValue } from '../../registry/invalid-value.ts';

/** An IP address; an IPv4 address within IPv6 (`::ffff:10.0.0.1`) is of family 4, as Go has it. */
export interface IpAddress {
  family: 4 | 6;
  value: bigint;
  /** The text has zeros before an octet, which some read as octal. */
  leadingZeros: boolean;
  /** The text is that of an IPv4 address within IPv6. */
  mapped: boolean;
}

export interface IpNetwork {
  address: IpAddress;
  /** Bits of the network. */
  prefix: number;
  leadingZeros: boolean;
}

const MAPPED = 0xffffn << 32n;
const BAD_IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const BAD_CIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

/** Reads an address; undefined for what is none. Leading zeros are read as nothing, as Kubernetes always did. */
export function parseIp(text: string): IpAddress | undefined {
  if (!text.includes(':')) return parseIpv4(text);
  const value = parseIpv6(text);
  if (value === undefined) return undefined;
  const mapped = value >> 32n === MAPPED >> 32n;
  return { family: mapped ? 4 : 6, value: mapped ? value & 0xffffffffn : value, leadingZeros: false, mapped };
}

function parseIpv4(text: string): IpAddress | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^\d+$/.test(part) && Number(part) <= 255)) return undefined;
  const value = parts.reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  return {
    family: 4,
    value,
    leadingZeros: parts.some((part) => part.length > 1 && part.startsWith('0')),
    mapped: false,
  };
}

function parseIpv6(text: string): bigint | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const groups = halves.map((half) => (half === '' ? [] : groupsOf(half)));
  const [head, tail = []] = groups;
  if (!head || groups.includes(undefined)) return undefined;
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  return [...head, ...Array.from({ length: missing }, () => 0), ...(tail ?? [])].reduce(
    (sum, group) => (sum << 16n) + BigInt(group),
    0n,
  );
}

function groupsOf(text: string): number[] | undefined {
  const parts = text.split(':');
  const groups: number[] = [];
  for (const [index, part] of parts.entries()) {
    if (index === parts.length - 1 && part.includes('.')) {
      const v4 = parseIpv4(part);
      if (!v4) return undefined;
      groups.push(Number(v4.value >> 16n), Number(v4.value & 0xffffn));
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}

export function parseCidr(text: string): IpNetwork | undefined {
  const slash = text.indexOf('/');
  if (slash < 0) return undefined;
  const address = parseIp(text.slice(0, slash));
  const bits = text.slice(slash + 1);
  if (!address || !/^\d+$/.test(bits)) return undefined;
  const prefix = Number(bits);
  const leadingZeros = address.leadingZeros || (bits.length > 1 && bits.startsWith('0'));
  if (prefix > (address.family === 4 && !address.mapped ? 32 : 128)) return undefined;
  return { address, prefix: address.mapped ? Math.max(prefix - 96, 0) : prefix, leadingZeros };
}

/** The first address of the network. */
export function networkAddress({ address, prefix }: IpNetwork): bigint {
  const host = BigInt((address.family === 4 ? 32 : 128) - prefix);
  return (address.value >> host) << host;
}

export function networkContains(network: IpNetwork, address: IpAddress): boolean {
  return (
    address.family === network.address.family && networkAddress({ ...network, address }) === networkAddress(network)
  );
}

/** The canonical text: decimal octets, or RFC 5952. */
export function formatIp({ family, value }: Pick<IpAddress, 'family' | 'value'>): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => Number((value >> BigInt(16 * (7 - index))) & 0xffffn));
  const run = longestZeroRun(groups);
  const hex = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(':');
  if (run.size < 2) return hex(groups);
  return `${hex(groups.slice(0, run.start))}::${hex(groups.slice(run.start + run.size))}`;
}

function longestZeroRun(groups: readonly number[]): { start: number; size: number } {
  let best = { start: 0, size: 0 };
  let size = 0;
  for (const [index, group] of groups.entries()) {
    size = group === 0 ? size + 1 : 0;
    if (size > best.size) best = { start: index - size + 1, size };
  }
  return best;
}

/** The faults of an address in a field that is older than the strict rules; `known` texts were accepted before. */
export function validateIp(text: string, at: string, known: readonly string[] = []): FieldError[] {
  const ip = parseIp(text);
  if (known.includes(text)) return [];
  if (!ip) return [invalidValue(at, text, BAD_IP)];
  if (ip.leadingZeros) return [invalidValue(at, text, 'must not have leading 0s')];
  if (ip.mapped) return [invalidValue(at, text, 'must not be an IPv4-mapped IPv6 address')];
  return [];
}

/** The same for a network. */
export function validateCidr(text: string, at: string, known: readonly string[] = []): FieldError[] {
  if (known.includes(text)) return [];
  const network = parseCidr(text);
  if (!network) return [invalidValue(at, text, BAD_CIDR)];
  if (network.leadingZeros) return [invalidValue(at, text, 'must not have leading 0s in IP or prefix length')];
  if (network.address.mapped) return [invalidValue(at, text, 'must not have an IPv4-mapped IPv6 address')];
  if (networkAddress(network) !== network.address.value) {
    return [invalidValue(at, text, 'must not have bits set beyond the prefix length')];
  }
  return [];
}

/** The faults of an address in a newer field: it is canonical. */
export function validateCanonicalIp(text: string, at: string): FieldError[] {
  const faults = validateIp(text, at);
  const ip = parseIp(text);
  if (faults.length > 0 || !ip || formatIp(ip) === text) return faults;
  return [invalidValue(at, text, `must be in canonical form (${JSON.stringify(formatIp(ip))})`)];
}

export function validateCanonicalCidr(text: string, at: string): FieldError[] {
  const faults = validateCidr(text, at);
  const network = parseCidr(text);
  if (faults.length > 0 || !network) return faults;
  const canonical = `${formatIp(network.address)}/${network.prefix}`;
  if (canonical === text) return [];
  return [invalidValue(at, text, `must be in canonical form (${JSON.stringify(canonical)})`)];
}

/** The faults of an address that no endpoint can have: unspecified, loopback, link-local. */
export function validateNonSpecialIp(text: string, at: string): FieldError[] {
  const ip = parseIp(text);
  if (!ip) return [invalidValue(at, text, 'must be a valid IP address')];
  const { value } = ip;
  const faults: string[] = [];
  if (value === 0n) faults.push(`may not be unspecified (${text})`);
  if (ip.family === 4 ? value >> 24n === 127n : value === 1n) {
    faults.push('may not be in the loopback range (127.0.0.0/8, ::1/128)');
  }
  if (ip.family === 4 ? value >> 16n === 0xa9fen : value >> 118n === 0x3fan) {
    faults.push('may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  }
  if (ip.family === 4 ? value >> 8n === 0xe00000n : ((value >> 112n) & 0xff0fn) === 0xff02n) {
    faults.push('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
  }
  return faults.map((fault) => invalidValue(at, text, fault));
}

/** Warnings for an address that is accepted and yet not canonical. */
export function ipWarnings(text: string, at: string): string[] {
  const ip = parseIp(text);
  if (!ip) return [];
  const canonical = formatIp(ip);
  if (ip.leadingZeros || ip.mapped) {
    return [
      `${at}: non-standard IP address ${JSON.stringify(text)} will be considered invalid in a future Kubernetes release: use ${JSON.stringify(canonical)}`,
    ];
  }
  if (ip.family === 4 || canonical === text) return [];
  return [
    `${at}: IPv6 address ${JSON.stringify(text)} should be in RFC 5952 canonical format (${JSON.stringify(canonical)})`,
  ];
}

export function cidrWarnings(text: string, at: string): string[] {
  const network = parseCidr(text);
  if (!network) return [];
  const { address, prefix } = network;
  const base = `${formatIp({ family: address.family, value: networkAddress(network) })}/${prefix}`;
  const warnings: string[] = [];
  if (networkAddress(network) !== address.value) {
    const single = `${formatIp(address)}/${address.family === 4 ? 32 : 128}`;
    warnings.push(
      `${at}: CIDR value ${JSON.stringify(text)} is ambiguous in this context (should be ${JSON.stringify(base)} or ${JSON.stringify(single)}?)`,
    );
  }
  if (network.leadingZeros || address.mapped) {
    warnings.push(
      `${at}: non-standard CIDR value ${JSON.stringify(text)} will be considered invalid in a future Kubernetes release: use ${JSON.stringify(base)}`,
    );
  }
  const canonical = `${formatIp(address)}/${prefix}`;
  if (warnings.length === 0 && address.family === 6 && canonical !== text) {
    warnings.push(
      `${at}: IPv6 CIDR value ${JSON.stringify(text)} should be in RFC 5952 canonical format (${JSON.stringify(canonical)})`,
    );
  }
  return warnings;
}
