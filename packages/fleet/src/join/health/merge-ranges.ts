import { isIPv6 } from 'node:net';

/**
 * The same addresses in as few ranges as may be: two halves become their whole. For lists of many: the ranges of a cluster's
 * nodes fill up one of the cluster's. What is not a range stays as it is.
 */
export function mergeRanges(ranges: readonly string[]): string[] {
  const odd = ranges.filter((text) => readRange(text) === undefined);
  const read = ranges.flatMap((text) => readRange(text) ?? []);
  return [...odd, ...[32, 128].flatMap((bits) => mergeOf(bits, read)).map(formatRange)];
}

/** From the smallest ranges up, so that a whole made of two halves is there when its own other half is looked for. */
function mergeOf(bits: number, ranges: readonly Range[]): Range[] {
  const merged: Range[] = [];
  let wholes: Range[] = [];
  for (let length = bits; length >= 0; length -= 1) {
    const open = new Map<bigint, Range>();
    for (const range of [...ranges.filter((each) => each.bits === bits && each.length === length), ...wholes]) {
      open.set(range.first, range);
    }
    wholes = [];
    const half = length === 0 ? 0n : 1n << BigInt(bits - length);
    for (const range of open.values()) {
      const low = range.first & ~half;
      if (length === 0 || !open.has(low) || !open.has(low | half)) merged.push(range);
      else if (range.first === low) wholes.push({ ...range, length: length - 1 });
    }
  }
  return merged.sort(byAddress);
}

interface Range {
  bits: number;
  first: bigint;
  length: number;
}

function byAddress(a: Range, b: Range): number {
  return a.first < b.first ? -1 : 1;
}

function readRange(text: string): Range | undefined {
  const [address = '', suffix = ''] = text.split('/');
  const bits = isIPv6(address) ? 128 : 32;
  const first = bits === 128 ? readIPv6(address) : readIPv4(address);
  const length = Number(suffix);
  if (first === undefined || suffix === '' || !Number.isInteger(length) || length < 0 || length > bits)
    return undefined;
  const rest = BigInt(bits - length);
  return { bits, first: (first >> rest) << rest, length };
}

function readIPv4(address: string): bigint | undefined {
  const parts = address.split('.').map(Number);
  if (parts.length !== 4 || parts.some((part) => !(Number.isInteger(part) && part >= 0 && part <= 255)))
    return undefined;
  return parts.reduce((all, part) => (all << 8n) | BigInt(part), 0n);
}

function readIPv6(address: string): bigint | undefined {
  if (address.includes('.')) return undefined;
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...before, ...Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0'), ...after];
  return groups.reduce((all, group) => (all << 16n) | BigInt(`0x${group}`), 0n);
}

function formatRange({ bits, first, length }: Range): string {
  if (bits === 32) return `${[24n, 16n, 8n, 0n].map((shift) => (first >> shift) & 255n).join('.')}/${length}`;
  const groups = Array.from({ length: 8 }, (_, index) => ((first >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  return `${new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)}/${length}`;
}
