/** The little of DER (X.690) that a PKCS#10 request is made of. Nothing else is understood, and nothing is guessed. */

export const TAG = {
  integer: 0x02,
  bitString: 0x03,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  ia5String: 0x16,
  sequence: 0x30,
  set: 0x31,
  context0: 0xa0,
} as const;

/** One value: its tag, its content, and both together as they stand in the input. */
export interface DerValue {
  tag: number;
  bytes: Uint8Array;
  whole: Uint8Array;
}

/** Reads the one value that `input` is. Throws where it is malformed or something follows. */
export function readDer(input: Uint8Array): DerValue {
  const [value, ...rest] = readAll(input);
  if (!value || rest.length > 0) throw new Error('malformed DER: not one value');
  return value;
}

/** The values inside a SEQUENCE, SET or context tag. */
export function childrenOf(value: DerValue): DerValue[] {
  if ((value.tag & 0x20) === 0) throw new Error('malformed DER: a primitive value where others should be inside');
  return readAll(value.bytes);
}

function readAll(input: Uint8Array): DerValue[] {
  const values: DerValue[] = [];
  for (let at = 0; at < input.length; ) {
    const { start, end } = extentOf(input, at);
    values.push({ tag: input[at]!, bytes: input.subarray(start, end), whole: input.subarray(at, end) });
    at = end;
  }
  return values;
}

function extentOf(input: Uint8Array, at: number): { start: number; end: number } {
  const first = input[at + 1];
  if (first === undefined || (input[at]! & 0x1f) === 0x1f) throw new Error('malformed DER: no length');
  let start = at + 2;
  let length = first;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 3) throw new Error('malformed DER: a length that nobody needs');
    length = 0;
    for (const byte of input.subarray(start, start + count)) length = length * 256 + byte;
    start += count;
  }
  if (start + length > input.length) throw new Error('malformed DER: it ends early');
  return { start, end: start + length };
}

/** `2.5.4.3` and the like. */
export function objectIdentifier({ tag, bytes }: DerValue): string {
  if (tag !== TAG.objectIdentifier || bytes.length === 0) throw new Error('malformed DER: no object identifier');
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of bytes) {
    arc = arc * 128 + (byte & 0x7f);
    if (byte < 0x80) {
      arcs.push(arc);
      arc = 0;
    }
  }
  const [first = 0, ...others] = arcs;
  const root = Math.min(Math.floor(first / 40), 2);
  return [root, first - root * 40, ...others].join('.');
}

/** The text of a string type whose bytes are UTF-8 or a subset of it. */
export function stringValue({ tag, bytes }: DerValue): string {
  if (tag !== TAG.utf8String && tag !== TAG.printableString && tag !== TAG.ia5String) {
    throw new Error('malformed DER: a string of a type that is not used any more');
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

/** Encodes one value; `content` are bytes, or values that stand inside. */
export function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const length = body.length;
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, (length >> 8) & 0xff, length & 0xff];
  if (length > 0xffff) throw new RangeError('too long for what is encoded here');
  return Buffer.concat([Buffer.from([tag, ...head]), body]);
}

export function derObjectIdentifier(text: string): Buffer {
  const [root = 0, second = 0, ...others] = text.split('.').map(Number);
  const bytes = [root * 40 + second, ...others].flatMap((arc) => {
    const septets = [arc & 0x7f];
    for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128))
      septets.unshift((rest & 0x7f) | 0x80);
    return septets;
  });
  return der(TAG.objectIdentifier, Buffer.from(bytes));
}
