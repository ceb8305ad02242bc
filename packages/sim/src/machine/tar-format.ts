/** One member of an archive, without its bytes. */
export interface TarMember {
  name: string;
  kind: 'file' | 'directory' | 'link' | 'hardlink' | 'other';
  mode: number;
  size: number;
  /** Milliseconds since the epoch. */
  modified: number;
  /** What a link leads to. */
  target: string;
}

export const TAR_BLOCK = 512;

const KINDS: Readonly<Record<string, TarMember['kind']>> = {
  '0': 'file',
  '\0': 'file',
  '7': 'file',
  '1': 'hardlink',
  '2': 'link',
  '5': 'directory',
};
const TYPES = { file: '0', hardlink: '1', link: '2', directory: '5', other: '0' } as const;

/** Zeros up to the end of the block. */
export function tarPadding(size: number): Uint8Array {
  return new Uint8Array((TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK);
}

/** The header of a member in the form of ustar, with a pax header before it where its names or size do not fit. */
export function tarHeader(member: TarMember): Uint8Array {
  const records: string[] = [];
  const split = splitName(member.name);
  if (!split) records.push(paxRecord('path', member.name));
  if (Buffer.byteLength(member.target) > 100) records.push(paxRecord('linkpath', member.target));
  if (member.size >= 8 ** 11) records.push(paxRecord('size', String(member.size)));
  const header = ustar(member, split ?? { name: cutBytes(member.name), prefix: '' }, TYPES[member.kind]);
  if (records.length === 0) return header;
  const body = Buffer.from(records.join(''));
  const pax: TarMember = { ...member, name: 'PaxHeader', size: body.length, target: '' };
  return Buffer.concat([ustar(pax, { name: 'PaxHeader', prefix: '' }, 'x'), body, tarPadding(body.length), header]);
}

function splitName(name: string): { name: string; prefix: string } | undefined {
  if (Buffer.byteLength(name) <= 100) return { name, prefix: '' };
  for (let slash = name.indexOf('/'); slash >= 0; slash = name.indexOf('/', slash + 1)) {
    const [prefix, rest] = [name.slice(0, slash), name.slice(slash + 1)];
    if (rest !== '' && Buffer.byteLength(rest) <= 100 && Buffer.byteLength(prefix) <= 155)
      return { name: rest, prefix };
  }
  return undefined;
}

function cutBytes(text: string): string {
  return Buffer.from(text).subarray(0, 100).toString('latin1');
}

function paxRecord(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (String(length).length !== String(rest).length) length = rest + String(length).length;
  return `${length} ${key}=${value}\n`;
}

function ustar(member: TarMember, { name, prefix }: { name: string; prefix: string }, type: string): Uint8Array {
  const block = Buffer.alloc(TAR_BLOCK);
  const octal = (value: number, at: number, length: number): void => {
    block.write(
      `${value
        .toString(8)
        .padStart(length - 1, '0')
        .slice(-(length - 1))}\0`,
      at,
      'latin1',
    );
  };
  block.write(name, 0, 100);
  octal(member.mode & 0o7777, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(member.size, 124, 12);
  octal(Math.max(0, Math.floor(member.modified / 1000)), 136, 12);
  block.write('        ', 148, 'latin1');
  block.write(type, 156, 'latin1');
  block.write(member.target, 157, 100);
  block.write('ustar\x0000root', 257, 'latin1');
  block.write('root', 297, 'latin1');
  block.write(prefix, 345, 155);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

/** What a header says; undefined for the block of zeros at the end. Throws an `Error` for what is none. */
export function readTarHeader(block: Buffer): { member: TarMember; type: string } | undefined {
  if (block.every((byte) => byte === 0)) return undefined;
  const text = (from: number, length: number): string =>
    block
      .subarray(from, from + length)
      .toString()
      .replace(/\0.*$/s, '');
  const number = (from: number, length: number): number => {
    if (((block[from] ?? 0) & 0x80) === 0) return Number.parseInt(text(from, length).trim() || '0', 8);
    return block
      .subarray(from + 1, from + length)
      .reduce((value, byte) => value * 256 + byte, (block[from] ?? 0) & 0x7f);
  };
  const sum = block.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0);
  if (sum !== number(148, 8)) throw new Error('invalid tar header checksum');
  const type = String.fromCharCode(block[156] ?? 0);
  const prefix = text(257, 5) === 'ustar' && text(257, 8).trim() === 'ustar' ? text(345, 155) : '';
  const name = prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`;
  const kind = name.endsWith('/') && KINDS[type] === 'file' ? 'directory' : (KINDS[type] ?? 'other');
  const size = kind === 'link' || kind === 'hardlink' || kind === 'directory' ? 0 : number(124, 12);
  if (!Number.isSafeInteger(size) || size < 0) throw new Error('invalid tar magic');
  const member = {
    name,
    kind,
    mode: number(100, 8) & 0o7777,
    size,
    modified: number(136, 12) * 1000,
    target: text(157, 100),
  };
  return { member, type };
}

/** The records of a pax header. */
export function readPaxRecords(body: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < body.length; ) {
    const space = body.indexOf(32, at);
    const length = Number(body.subarray(at, Math.max(at, space)).toString());
    if (space < 0 || !(length > 0)) break;
    const [key = '', value = ''] = body
      .subarray(space + 1, at + length - 1)
      .toString()
      .split(/=(.*)/s, 2);
    records.set(key, value);
    at += length;
  }
  return records;
}
