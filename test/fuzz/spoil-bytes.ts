import type { Draw } from '../soak/draw.ts';

type Spoiler = (draw: Draw, bytes: Buffer) => Buffer;

const BAD_UTF8 = [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80], [0xc0, 0xaf], [0x00]].map(
  (bytes) => Buffer.from(bytes),
);

/** Texts that parsers of JSON and YAML stumble over. */
const HARD_TEXTS = [
  '{"__proto__":{"polluted":true}}',
  '"\\ud800"',
  '1e400',
  '-0',
  '123456789012345678901234567890',
  'NaN',
  '[',
  '{"a":1,"a":2}',
  '&a [*a, *a]',
  '!!binary x',
  '? {x: y}',
  '<<: *a',
  '\u2028',
  'null',
  '""',
  '{}',
  '[]',
].map((text) => Buffer.from(text));

const DEEPEST = 20_000;

const SPOILERS: readonly Spoiler[] = [
  function flip(draw, bytes) {
    const copy = Buffer.from(bytes);
    for (let count = draw.int(1, 8); count > 0 && copy.length > 0; count--) {
      copy[draw.int(0, copy.length - 1)] = draw.int(0, 255);
    }
    return copy;
  },
  function cut(draw, bytes) {
    return bytes.subarray(0, draw.int(0, bytes.length));
  },
  function repeat(draw, bytes) {
    const from = draw.int(0, bytes.length);
    const part = bytes.subarray(from, draw.int(from, bytes.length));
    return insert(bytes, from, Buffer.concat(Array.from({ length: draw.int(1, 20) }, () => part)));
  },
  function badText(draw, bytes) {
    return insert(bytes, draw.int(0, bytes.length), draw.pick(BAD_UTF8));
  },
  function hardText(draw, bytes) {
    return insert(bytes, draw.int(0, bytes.length), draw.pick(HARD_TEXTS));
  },
  function nest(draw, bytes) {
    const [open, close] = draw.pick([
      ['[', ']'],
      ['{"a":', '}'],
      ['{a: ', '}'],
      ['- ', ''],
    ]);
    const depth = draw.int(10, DEEPEST);
    const nested = `${open.repeat(depth)}1${draw.chance(0.5) ? close.repeat(depth) : ''}`;
    return draw.chance(0.3) ? Buffer.from(nested) : insert(bytes, draw.int(0, bytes.length), Buffer.from(nested));
  },
];

/** `bytes`, spoilt in one to three ways. */
export function spoilBytes(draw: Draw, bytes: Buffer): Buffer {
  let spoilt = bytes;
  for (let times = draw.int(1, 3); times > 0; times--) spoilt = draw.pick(SPOILERS)(draw, spoilt);
  return spoilt;
}

function insert(bytes: Buffer, at: number, part: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(at)]);
}
