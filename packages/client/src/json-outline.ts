import { READ_LIMITS } from './bounded/read-limits.ts';
import { endOfManagedFields } from './end-of-managed-fields.ts';
import { BACKSLASH, closes, closingQuote, COMMA, endsString, OPEN_BRACE, opens, QUOTE, SPACE } from './json-bytes.ts';

/** Numbers that a node takes in {@link JsonOutline.nodes}; what each of them is, is said by the constants below. */
export const NODE_SIZE = 6;
/** Where its text begins and ends, in the bytes that were scanned. */
export const START = 0;
export const END = 1;
/** Of its text: equal texts have equal hashes. */
export const HASH = 2;
/** The node behind it and all that is in it. */
export const NEXT = 3;
/** The string before it, quotes included: of a member of an object, its key. */
export const KEY_START = 4;
export const KEY_END = 5;

/** What lies deeper is text of the node that it is in. */
const MAX_DEPTH = 32;
/** No object is nested deeper. */
const DEEPEST = READ_LIMITS.line.maxDepth;
const FNV_PRIME = 0x01000193;
const FNV_OFFSET = 0x811c9dc5 | 0;
const METADATA = Buffer.from('"metadata"');
const MANAGED_FIELDS = Buffer.from('"managedFields"');

/**
 * Where the objects and arrays of one JSON object lie in its bytes, and a hash of each, found in one pass without parsing. It is
 * used again for the next: what it says holds until then.
 */
export class JsonOutline {
  /** In the order in which they begin, each of {@link NODE_SIZE} numbers; the first is the object itself. */
  nodes = new Int32Array(NODE_SIZE * 128);
  /** Behind the object. */
  end = 0;
  /** `metadata.managedFields` with its key and its comma, which is no node; -1 where there are none. */
  cutStart = -1;
  cutEnd = -1;
  /** The node of `metadata`; -1 where there is none. */
  metadata = -1;
  readonly #open = new Int32Array(MAX_DEPTH);
  readonly #hashes = new Int32Array(MAX_DEPTH);

  /**
   * Of the object that begins at `at`, or, of that, of `metadata` alone. False where that is no object, does not end, or is nested
   * too deeply: then nothing else holds.
   */
  scan(bytes: Buffer, at: number, metadataOnly = false): boolean {
    this.cutStart = -1;
    this.cutEnd = -1;
    this.metadata = -1;
    if (bytes[at] !== OPEN_BRACE) return false;
    const { length } = bytes;
    const view = new DataView(bytes.buffer, bytes.byteOffset, length);
    const words = length - 3;
    let count = 0;
    let depth = 0;
    let hash = FNV_OFFSET;
    let keyStart = 0;
    let keyEnd = 0;
    for (let i = at; i < length; i++) {
      const byte = bytes[i] as number;
      hash = Math.imul(hash ^ byte, FNV_PRIME);
      if (byte === QUOTE) {
        keyStart = i++;
        // Four bytes at once, for as long as none of them is a quote or a backslash.
        for (; i < words; i += 4) {
          const word = view.getInt32(i, true);
          if (endsString(word)) break;
          hash = Math.imul(hash ^ word, FNV_PRIME);
          hash ^= hash >>> 15;
        }
        for (; i < length; i++) {
          const inside = bytes[i] as number;
          hash = Math.imul(hash ^ inside, FNV_PRIME);
          if (inside === QUOTE) break;
          if (inside === BACKSLASH) hash = Math.imul(hash ^ (bytes[++i] as number), FNV_PRIME);
        }
        keyEnd = i + 1;
      } else if (opens(byte)) {
        if (depth === 1 && isString(bytes, keyStart, keyEnd, METADATA)) this.metadata = count * NODE_SIZE;
        else if (depth === 2 && this.#open[1] === this.metadata && isString(bytes, keyStart, keyEnd, MANAGED_FIELDS)) {
          i = this.#cut(bytes, view, keyStart, i) - 1;
          continue;
        }
        if (depth < MAX_DEPTH) {
          const node = this.#add(count++);
          this.nodes[node + START] = i;
          this.nodes[node + KEY_START] = keyStart;
          this.nodes[node + KEY_END] = keyEnd;
          this.#open[depth] = node;
          this.#hashes[depth] = hash;
          hash = FNV_OFFSET ^ byte;
        }
        if (++depth > DEEPEST) return false;
      } else if (closes(byte)) {
        if (--depth >= MAX_DEPTH) continue;
        const node = this.#open[depth] as number;
        const own = mixed(hash);
        this.nodes[node + END] = i + 1;
        this.nodes[node + HASH] = own;
        this.nodes[node + NEXT] = count * NODE_SIZE;
        hash = Math.imul((this.#hashes[depth] as number) ^ own, FNV_PRIME);
        if (depth === 1 && metadataOnly && node === this.metadata) {
          this.end = skip(bytes, view, i + 1, 1);
          return this.end >= 0;
        }
        if (depth === 0) {
          this.end = i + 1;
          return true;
        }
      }
    }
    return false;
  }

  #add(count: number): number {
    const node = count * NODE_SIZE;
    if (node === this.nodes.length) {
      const grown = new Int32Array(node * 2);
      grown.set(this.nodes);
      this.nodes = grown;
    }
    return node;
  }

  /** Returns what is behind the value that begins at `value`. */
  #cut(bytes: Buffer, view: DataView, key: number, value: number): number {
    const end = endOfManagedFields(bytes, value) ?? skip(bytes, view, value, 0);
    if (end < 0) return bytes.length;
    let behind = end;
    while ((bytes[behind] as number) <= SPACE) behind++;
    this.cutStart = key;
    if (bytes[behind] === COMMA) this.cutEnd = behind + 1;
    else {
      this.cutEnd = end;
      let before = key - 1;
      while ((bytes[before] as number) <= SPACE) before--;
      if (bytes[before] === COMMA) this.cutStart = before;
    }
    return end;
  }
}

/** Behind the object or array that begins at `at`, or out of so many that are open there; -1 where it does not end. */
function skip(bytes: Uint8Array, view: DataView, at: number, depth: number): number {
  const { length } = bytes;
  let open = depth;
  for (let i = at; i < length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) {
      i = closingQuote(bytes, view, i + 1);
    } else if (opens(byte)) open++;
    else if (closes(byte) && --open === 0) return i + 1;
  }
  return -1;
}

function isString(bytes: Uint8Array, start: number, end: number, word: Uint8Array): boolean {
  if (end - start !== word.length) return false;
  for (let i = 0; i < word.length; i++) if (bytes[start + i] !== word[i]) return false;
  return true;
}

function mixed(hash: number): number {
  const half = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return half ^ (half >>> 12);
}
