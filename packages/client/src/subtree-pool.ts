import { isAscii } from 'node:buffer';
import { parseJson } from '@asterism/machinery';
import { END, HASH, JsonOutline, KEY_END, KEY_START, NEXT, NODE_SIZE, START } from './json-outline.ts';
import { KnownParts } from './known-parts.ts';
import { MetadataReader } from './metadata-reader.ts';
import { Settler } from './settler.ts';
import { OPEN_BRACKET } from './json-bytes.ts';
import { Seats } from './seats.ts';
import { Turns } from './turns.ts';

const NOTHING = Buffer.alloc(0);
const EMPTY_OBJECT = Object.freeze({});
const EMPTY_ARRAY = Object.freeze([]);

/** How many hashes of what came once are remembered; a power of two. */
const SEEN = 16_384;

/** How many lists may be in memory at a time. */
const LISTS = 8;

/** What an object is made to say of itself, where it does not (list items) or says something else (metadata alone). */
export interface ObjectIdentity {
  apiVersion: string;
  kind: string;
}

/** `metadataOnly`: `apiVersion`, `kind` and `metadata` alone; the rest is not parsed. */
export interface ReadObjectOptions {
  identity: ObjectIdentity;
  metadataOnly?: boolean | undefined;
}

/** An object that was read, and where in the bytes it ends. */
export interface ReadObject {
  value: object;
  end: number;
}

/** How a value is made of what its text, with null in place of each part that was found elsewhere, was parsed to. */
interface Plan {
  node: number;
  places: (string | number)[];
  /** What belongs there: a part that was found, or the plan of what stands there already. */
  parts: (Plan | Found)[];
  /** All nodes right below this one. */
  children: number;
}

interface Found {
  value: unknown;
}

/**
 * Reads objects so that equal parts of them are one: the containers of all pods of a ReplicaSet, their labels and owners, what
 * an update did not change. A part that is found is not parsed again, so this is faster than `JSON.parse` too.
 *
 * S1 What it gives is frozen to the leaves, has no `metadata.managedFields`, and is otherwise what `JSON.parse` gives.
 * S2 Parts are compared as text, a hash only finds them: no object can be made to show a part of another one.
 * S3 It remembers a bounded part of what it has read (about 10 MB), that which came last. Forgetting costs memory, never truth.
 *
 * One for all clusters of a process shares most.
 */
export class SubtreePool {
  /** Of all who read with it. */
  readonly turns = new Turns();
  /** Of the lists that are read with it, whose bytes are there as a whole. */
  readonly seats = new Seats(LISTS);
  readonly #outline = new JsonOutline();
  /** What came twice. */
  readonly #known = new KnownParts();
  readonly #settler = new Settler();
  readonly #metadata = new MetadataReader(this.#settler);
  /** The hash that came last, of those that share a place. */
  readonly #seen = new Int32Array(SEEN);
  #bytes: Buffer = NOTHING;
  /** Of the object that is read: its text, one character a byte, and where in the bytes that begins. */
  #text = '';
  #base = 0;
  #isAscii = true;
  /** Only `metadata` is read. */
  #isPartial = false;
  /** What is to be parsed. */
  #planned = '';

  /**
   * The object that begins at `at`.
   *
   * @throws SyntaxError where no JSON object does.
   */
  read(bytes: Buffer, at = 0, options?: ReadObjectOptions): ReadObject {
    const metadataOnly = options?.metadataOnly ?? false;
    const found = options && metadataOnly ? this.#metadata.read(bytes, at) : undefined;
    if (options && found) return { value: identified(options.identity, found.metadata), end: found.end };
    if (!this.#outline.scan(bytes, at, metadataOnly)) {
      throw new SyntaxError('no JSON object begins here, it does not end, or it is nested too deeply');
    }
    const { end, metadata, nodes } = this.#outline;
    this.#bytes = bytes;
    this.#isPartial = metadataOnly;
    const node = metadataOnly && metadata >= 0 ? metadata : 0;
    this.#base = nodes[node + START] as number;
    this.#text = bytes.toString('latin1', this.#base, nodes[node + END]);
    this.#isAscii = isAscii(bytes.subarray(this.#base, nodes[node + END] as number));
    try {
      return {
        value: options && metadataOnly ? this.#metadataOnly(options.identity) : this.#whole(options?.identity),
        end,
      };
    } finally {
      this.#bytes = NOTHING;
      this.#text = '';
      this.#planned = '';
    }
  }

  #whole(identity: ObjectIdentity | undefined): object {
    const plan = this.#plan(0);
    const text = this.#takePlanned();
    const value = this.#parse(text) as Record<string, unknown>;
    if (!identity || (value.kind !== undefined && value.apiVersion !== undefined)) return this.#finish(value, plan);
    // Parsed with them rather than given them later: V8 makes a smaller object so. Of two of a name the latter counts.
    const { apiVersion, kind } = identity;
    const head = JSON.stringify({ kind, apiVersion }).slice(0, -1);
    const rest = Object.keys(value).length > 0 ? `,${text.slice(1)}` : '}';
    return this.#finish(this.#parse(head + rest) as object, plan);
  }

  #metadataOnly(identity: ObjectIdentity): object {
    const { metadata: node } = this.#outline;
    return identified(identity, node < 0 ? EMPTY_OBJECT : this.#open(node));
  }

  /** The value of a node that is unlike every other, its parts shared where they can be. */
  #open(node: number): object {
    const before = this.#planned;
    this.#planned = '';
    const plan = this.#plan(node);
    const value = this.#parse(this.#takePlanned()) as object;
    this.#planned = before;
    return this.#finish(value, plan);
  }

  #takePlanned(): string {
    const text = this.#planned;
    this.#planned = '';
    return text;
  }

  /** Adds the text that is to be parsed to what is planned. */
  #plan(node: number): Plan {
    const { nodes, metadata, cutStart, cutEnd } = this.#outline;
    const plan: Plan = { node, places: [], parts: [], children: 0 };
    const isArray = this.#isArray(node);
    const next = nodes[node + NEXT] as number;
    let cut = node === metadata && cutStart >= 0;
    let from = nodes[node + START] as number;
    for (let child = node + NODE_SIZE; child < next; child = nodes[child + NEXT] as number) {
      const start = nodes[child + START] as number;
      if (cut && cutStart < start) {
        this.#planned += this.#slice(from, cutStart);
        from = cutEnd;
        cut = false;
      }
      const found = this.#find(child);
      if (found !== undefined && this.#isPartial && node === metadata) {
        this.#metadata.keep(this.#bytes, start, nodes[child + END] as number, found);
      }
      const isOpen = found === undefined && (child === metadata || nodes[child + NEXT] !== child + NODE_SIZE);
      if (found !== undefined || isOpen) {
        this.#planned += found === undefined ? this.#slice(from, start) : `${this.#slice(from, start)}null`;
        from = nodes[child + END] as number;
        plan.places.push(isArray ? plan.children : this.#key(child));
        plan.parts.push(found === undefined ? this.#plan(child) : { value: found });
      }
      plan.children++;
    }
    if (cut) {
      this.#planned += this.#slice(from, cutStart);
      from = cutEnd;
    }
    this.#planned += this.#slice(from, nodes[node + END] as number);
    return plan;
  }

  #finish(value: object, { node, places, parts, children }: Plan): object {
    if (Array.isArray(value) && value.length !== children) {
      // It has scalars too, between which the places of the parts are not known.
      return this.#settler.settle(this.#parse(this.#textOf(node)) as object);
    }
    const members = value as Record<string | number, unknown>;
    const values: unknown[] = [];
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i] as Plan | Found;
      const place = places[i] as string | number;
      if ('value' in part) values.push(part.value);
      else {
        values.push(this.#finish(members[place] as object, part));
        members[place] = null; // It is settled.
      }
    }
    this.#settler.settleMembers(value);
    for (let i = 0; i < parts.length; i++) members[places[i] as string | number] = values[i];
    return Object.freeze(value);
  }

  /** The value of a node, where one of the same text is known, or this one is made known. */
  #find(node: number): object | undefined {
    const { nodes, metadata } = this.#outline;
    const length = (nodes[node + END] as number) - (nodes[node + START] as number);
    if (length === 2) {
      const text = this.#textOf(node);
      if (text === '{}') return EMPTY_OBJECT;
      if (text === '[]') return EMPTY_ARRAY;
    }
    if (node === metadata) return undefined;
    const hash = nodes[node + HASH] as number;
    const start = nodes[node + START] as number;
    const known = this.#known.find(hash, this.#text, start - this.#base, length);
    if (known !== undefined || !this.#cameBefore(hash)) return known;
    const isLeaf = nodes[node + NEXT] === node + NODE_SIZE;
    const value = isLeaf ? this.#settler.settle(this.#parse(this.#textOf(node)) as object) : this.#open(node);
    this.#known.keep(hash, this.#bytes.toString('latin1', start, start + length), value);
    return value;
  }

  #cameBefore(hash: number): boolean {
    const slot = hash & (SEEN - 1);
    if (this.#seen[slot] === hash) return true;
    this.#seen[slot] = hash;
    return false;
  }

  #isArray(node: number): boolean {
    return this.#text.charCodeAt((this.#outline.nodes[node + START] as number) - this.#base) === OPEN_BRACKET;
  }

  #key(node: number): string {
    const { nodes } = this.#outline;
    const text = this.#slice(nodes[node + KEY_START] as number, nodes[node + KEY_END] as number);
    return this.#isAscii && !text.includes('\\') ? text.slice(1, -1) : (this.#parse(text) as string);
  }

  #textOf(node: number): string {
    const { nodes } = this.#outline;
    return this.#slice(nodes[node + START] as number, nodes[node + END] as number);
  }

  #slice(start: number, end: number): string {
    return this.#text.slice(start - this.#base, end - this.#base);
  }

  #parse(text: string): unknown {
    return parseJson(this.#isAscii ? text : Buffer.from(text, 'latin1').toString('utf8'));
  }
}

function identified({ apiVersion, kind }: ObjectIdentity, metadata: object): object {
  return Object.freeze({ apiVersion, kind, metadata });
}
