import { between, pick, type Random } from './random.ts';

type Spoiler = (random: Random, bytes: Buffer) => Buffer;

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
  function flip(random, bytes) {
    const copy = Buffer.from(bytes);
    for (let count = between(random, 1, 8); count > 0 && copy.length > 0; count--) {
      copy[between(random, 0, copy.length - 1)] = between(random, 0, 255);
    }
    return copy;
  },
  function cut(random, bytes) {
    return bytes.subarray(0, between(random, 0, bytes.length));
  },
  function repeat(random, bytes) {
    const from = between(random, 0, bytes.length);
    const part = bytes.subarray(from, between(random, from, bytes.length));
    return insert(bytes, from, Buffer.concat(Array.from({ length: between(random, 1, 20) }, () => part)));
  },
  function badText(random, bytes) {
    return insert(bytes, between(random, 0, bytes.length), pick(random, BAD_UTF8));
  },
  function hardText(random, bytes) {
    return insert(bytes, between(random, 0, bytes.length), pick(random, HARD_TEXTS));
  },
  function nest(random, bytes) {
    const [open, close] = pick(random, [
      ['[', ']'],
      ['{"a":', '}'],
      ['{a: ', '}'],
      ['- ', ''],
    ]);
    const depth = between(random, 10, DEEPEST);
    const nested = `${open.repeat(depth)}1${random() < 0.5 ? close.repeat(depth) : ''}`;
    return random() < 0.3 ? Buffer.from(nested) : insert(bytes, between(random, 0, bytes.length), Buffer.from(nested));
  },
];

/** `bytes`, spoilt in one to three ways. */
export function spoilBytes(random: Random, bytes: Buffer): Buffer {
  let spoilt = bytes;
  for (let times = between(random, 1, 3); times > 0; times--) spoilt = pick(random, SPOILERS)(random, spoilt);
  return spoilt;
}

function insert(bytes: Buffer, at: number, part: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(at)]);
}
