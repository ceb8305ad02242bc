import { parseJson } from '@asterism/machinery';
import { endOfManagedFields } from './end-of-managed-fields.ts';
import { BACKSLASH, CLOSE_BRACE, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-bytes.ts';
import type { Settler } from './settler.ts';

/** How a server begins an object of which it sends metadata alone. */
const HEADS = [
  '{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":',
  '{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":',
];
/** So far an object is looked through. */
const LONGEST = 4_096;
/** How many parts are kept, at most twice that. */
const MOST_PARTS = 4_096;
/** Of the strings, those that are not each object's own. */
const OFTEN_EQUAL = ['generateName', 'namespace', 'creationTimestamp'];
const MANAGED_FIELDS = '"managedFields"';

/** `metadata`, and where the object that it is of ends. */
export interface ReadMetadata {
  metadata: object;
  end: number;
}

interface KnownPart {
  text: string;
  part: object;
}

/**
 * Reads the `metadata` of objects of which nothing else was sent, where all of it is as it mostly is: of scalars, and of objects and
 * arrays that are known, so that only the scalars are parsed. For all else it gives nothing.
 *
 * A part is found by all of its text. Where that ends is guessed; but what begins alike and is known as a whole ends there, as no
 * object or array of JSON is the beginning of another one.
 */
export class MetadataReader {
  readonly #settler: Settler;
  /** What came last, and before that. */
  #parts = new Map<string, KnownPart>();
  #older = new Map<string, KnownPart>();
  /** Those of the last object, in turn: the next one's are likely the same. */
  readonly #last: KnownPart[] = [];
  #text = '';
  /** How much of the next object is looked at: half as much again as of the last one, or, where that was too little, all. */
  #length = LONGEST;

  constructor(settler: Settler) {
    this.#settler = settler;
  }

  /** Of the object that begins at `at`. */
  read(bytes: Buffer, at: number): ReadMetadata | undefined {
    const text = bytes.toString('latin1', at, Math.min(at + this.#length, bytes.length));
    const head = HEADS.find((each) => text.slice(0, each.length) === each);
    if (head === undefined) return undefined;
    this.#text = text;
    this.#length = LONGEST;
    return this.#read(bytes, at, head.length);
  }

  /** A part that is frozen and settled, and the text that it was parsed from, one character a byte. */
  keep(bytes: Buffer, start: number, end: number, part: object): void {
    // A text of its own: a slice would keep all that it was cut from.
    if (end - start <= LONGEST) this.#keep({ text: bytes.toString('latin1', start, end), part });
  }

  #keep(known: KnownPart): KnownPart {
    if (this.#parts.size >= MOST_PARTS) {
      this.#older = this.#parts;
      this.#parts = new Map();
    }
    this.#parts.set(known.text, known);
    return known;
  }

  #read(bytes: Buffer, at: number, start: number): ReadMetadata | undefined {
    const text = this.#text;
    const names: string[] = [];
    const parts: object[] = [];
    let planned = '';
    let from = start;
    let i = start;
    if (text.charCodeAt(i) !== OPEN_BRACE) return undefined;
    do {
      const key = ++i;
      if (text.charCodeAt(key) !== QUOTE) return undefined;
      const keyEnd = endOfString(text, key);
      const value = keyEnd + 1;
      if (text.charCodeAt(keyEnd) !== COLON) return undefined;
      const first = text.charCodeAt(value);
      if (first === OPEN_BRACKET && text.startsWith(MANAGED_FIELDS, key)) {
        this.#length = Math.min(LONGEST, i + (i >> 1));
        const end = endOfManagedFields(bytes, at + value);
        // Only where they come last.
        if (end === undefined || bytes[end] !== CLOSE_BRACE || bytes[end + 1] !== CLOSE_BRACE) return undefined;
        planned += key === start + 1 ? '{}' : `${text.slice(from, key - 1)}}`;
        return { metadata: this.#finish(planned, names, parts), end: end + 2 };
      }
      if (first === OPEN_BRACE || first === OPEN_BRACKET) {
        const known = this.#find(value, parts.length, first === OPEN_BRACE ? '}' : ']');
        if (!known || !isName(text, key + 1, keyEnd - 1)) return undefined;
        names.push(text.slice(key + 1, keyEnd - 1));
        parts.push(known.part);
        planned += `${text.slice(from, value)}null`;
        i = value + known.text.length;
        from = i;
      } else i = endOfScalar(text, value);
    } while (text.charCodeAt(i) === COMMA);
    if (text.charCodeAt(i) !== CLOSE_BRACE || text.charCodeAt(i + 1) !== CLOSE_BRACE) return undefined;
    planned += text.slice(from, i + 1);
    return { metadata: this.#finish(planned, names, parts), end: at + i + 2 };
  }

  /** That begins at `start`, the so manieth, and ends with that letter. */
  #find(start: number, place: number, last: string): KnownPart | undefined {
    const before = this.#last[place];
    // A slice is compared many bytes at once; `startsWith` goes one by one.
    if (before && this.#text.slice(start, start + before.text.length) === before.text) return before;
    const text = this.#text.slice(start, this.#text.indexOf(last, start) + 1);
    const older = this.#older.get(text);
    const known = this.#parts.get(text) ?? (older && this.#keep(older));
    if (known) this.#last[place] = known;
    return known;
  }

  #finish(planned: string, names: string[], parts: object[]): object {
    const metadata = parse(planned) as Record<string, unknown>;
    for (const name of OFTEN_EQUAL) {
      const text = metadata[name];
      if (typeof text === 'string') metadata[name] = this.#settler.shared(text);
    }
    for (let i = 0; i < names.length; i++) metadata[names[i] as string] = parts[i];
    return Object.freeze(metadata);
  }
}

/** 0, where there is no quote, for a string that may go on behind one, and for what is no scalar. */
function endOfScalar(text: string, at: number): number {
  if (text.charCodeAt(at) === QUOTE) return endOfString(text, at);
  let end = at;
  while (isOfWord(text.charCodeAt(end))) end++;
  return end === at ? 0 : end;
}

function endOfString(text: string, at: number): number {
  const end = text.indexOf('"', at + 1);
  return text.charCodeAt(end - 1) === BACKSLASH ? 0 : end + 1;
}

/** Of a number, or of `true`, `false` and `null`. */
function isOfWord(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x2d && code <= 0x39) || code === 0x2b || code === 0x45;
}

/** Without escapes, and of one byte a character. */
function isName(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const lower = text.charCodeAt(i) | 0x20;
    if (lower < 0x61 || lower > 0x7a) return false;
  }
  return true;
}

/** Of bytes as characters. */
function parse(text: string): unknown {
  return parseJson(/[\x80-\xff]/.test(text) ? Buffer.from(text, 'latin1').toString() : text);
}
