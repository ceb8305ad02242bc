import type { Document, Node, Pair, ParsedNode, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { deepEqual, isJsonObject, ownMember, parseJson } from '@asterism/machinery';
import type { TextEdit } from './edit-json-text.ts';
import type { Change } from './override-step.ts';

type Library = typeof import('yaml');

/** Reads and changes YAML. It is loaded by those alone who have some: the library is large. */
export interface YamlEditor {
  read: (text: string) => Change;
  edit: (text: string, change: (value: unknown) => Change) => TextEdit;
}

export async function loadYamlEditor(): Promise<YamlEditor> {
  const library = await import('yaml');
  return { read: (text) => read(library, text), edit: (text, change) => editYamlText(library, text, change) };
}

/**
 * What stays the same stays as it is written: comments, order, quotes, and scalars that YAML 1.1 and 1.2 read differently, such as
 * `0777` and `yes`. Only where an edit reaches what an anchor shares with others is the text written anew.
 */
function editYamlText(library: Library, text: string, change: (value: unknown) => Change): TextEdit {
  const before = read(library, text);
  if ('fault' in before) return before;
  const edited = change(before.value);
  if ('fault' in edited) return edited;
  if (deepEqual(edited.value, before.value)) return { text };
  const end = text === '' || text.endsWith('\n') ? '\n' : '';
  const kept = new YamlRevision(library, text).write(before.value, edited.value);
  if (kept !== undefined) {
    const after = read(library, kept);
    if ('value' in after && deepEqual(after.value, edited.value)) return { text: kept.trimEnd() + end };
  }
  return { text: library.stringify(edited.value, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd() + end };
}

function read(library: Library, text: string): Change {
  const lines = new library.LineCounter();
  const document = library.parseDocument(text, { prettyErrors: true, merge: true, lineCounter: lines, ...QUICK });
  const offset = document.errors[0]?.pos[0] ?? repeatedKey(library, document);
  // The parser's own words quote the text, which may be a Secret's.
  if (offset !== undefined) return { fault: `is not one document of YAML: see its line ${lines.linePos(offset).line}` };
  try {
    // As JSON has it: what is none, such as a list that holds itself, could not be delivered.
    return { value: parseJson(JSON.stringify(document.toJS({ maxAliasCount: 100 }))) };
  } catch (cause) {
    if (cause instanceof ReferenceError || cause instanceof TypeError)
      return { fault: 'is not YAML whose aliases can be followed' };
    throw cause;
  }
}

/** The library compares each key of a map with all others, which takes minutes for a large map: {@link repeatedKey} does it instead. */
const QUICK = { uniqueKeys: false };

/** Where a key is repeated in one map. */
function repeatedKey({ isScalar, visit }: Library, document: Document.Parsed): number | undefined {
  let offset: number | undefined;
  visit(document, {
    Map: (_, map) => {
      const seen = new Set<unknown>();
      const repeated = map.items.find(({ key }) => {
        if (!isScalar(key)) return false;
        const before = seen.size;
        return seen.add(key.value).size === before;
      });
      if (repeated === undefined) return undefined;
      offset = (repeated.key as Scalar).range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return offset;
}

/** Thrown where the tree does not have what the value has: what comes by a merge key, or keys that are no strings. */
class NotInTree extends Error {}

/** A text as a tree of scalars that are texts, whatever they mean, on its way to say something else. */
class YamlRevision {
  readonly #library: Library;
  readonly #text: string;
  readonly #document: Document.Parsed<ParsedNode>;

  constructor(library: Library, text: string) {
    this.#library = library;
    this.#text = text;
    this.#document = library.parseDocument(text, { schema: 'failsafe', prettyErrors: false, ...QUICK });
  }

  /** The text with the change in it; undefined where the change cannot be made in the tree. */
  write(before: unknown, after: unknown): string | undefined {
    if (this.#document.errors.length > 0) return undefined;
    try {
      this.#document.contents = this.#revise(this.#document.contents, before, after) as ParsedNode;
    } catch (error) {
      if (error instanceof NotInTree) return undefined;
      throw error;
    }
    return this.#document.toString({
      lineWidth: 0,
      verifyAliasOrder: false, // What it then says is read again.
      indent: Math.max(1, /^( +)[^\s#-]/m.exec(this.#text)?.[1]?.length ?? 2),
      indentSeq: !hasUnindentedList(this.#text),
      flowCollectionPadding: !/[{[][^\s\]}]/.test(this.#text),
    });
  }

  #revise(node: unknown, before: unknown, after: unknown): Node {
    const { isMap, isScalar, isSeq } = this.#library;
    if (deepEqual(before, after)) return node as Node;
    if (isMap(node) && isJsonObject(before) && isJsonObject(after)) return this.#reviseMap(node, before, after);
    if (isSeq(node) && Array.isArray(before) && Array.isArray(after)) return this.#reviseSeq(node, before, after);
    const fresh = this.#nodeOf(after);
    if (!isScalar(node)) return fresh;
    fresh.commentBefore = node.commentBefore ?? null;
    fresh.spaceBefore = node.spaceBefore ?? false;
    fresh.comment = node.comment ?? null;
    if (isScalar(fresh) && fresh.type === undefined && isQuoted(node)) fresh.type = node.type;
    return fresh;
  }

  #reviseMap(map: YAMLMap, before: Record<string, unknown>, after: Record<string, unknown>): Node {
    const pairs = this.#pairsOf(map);
    const removed = new Set<Pair>();
    for (const key of Object.keys(before)) {
      if (Object.hasOwn(after, key)) continue;
      const pair = pairs.get(key);
      if (!pair) throw new NotInTree(key);
      removed.add(pair);
      pairs.delete(key);
    }
    if (removed.size > 0) map.items = map.items.filter((pair) => !removed.has(pair));
    if (map.items.length === 0) map.flow = false;
    for (const key of Object.keys(after)) {
      const [old, value] = [ownMember(before, key), after[key]];
      if (Object.hasOwn(before, key) && deepEqual(old, value)) continue;
      const pair = pairs.get(key);
      if (pair) pair.value = this.#revise(pair.value, old, value);
      else map.items.push(new this.#library.Pair(this.#nodeOf(key), this.#nodeOf(value)));
    }
    return map;
  }

  #reviseSeq(seq: YAMLSeq, before: readonly unknown[], after: readonly unknown[]): Node {
    if (seq.items.length !== before.length) throw new NotInTree();
    const shorter = Math.min(before.length, after.length);
    let first = 0;
    while (first < shorter && deepEqual(before[first], after[first])) first++;
    let last = 0;
    while (last < shorter - first && deepEqual(before.at(-1 - last), after.at(-1 - last))) last++;
    const [old, fresh] = [before.slice(first, before.length - last), after.slice(first, after.length - last)];
    const nodes = fresh.map((value, index) =>
      index < old.length ? this.#revise(seq.items[first + index], old[index], value) : this.#nodeOf(value),
    );
    if (seq.items.length === 0) seq.flow = false;
    seq.items.splice(first, old.length, ...nodes);
    return seq;
  }

  /** By its key; of keys that are no scalars there is nothing. */
  #pairsOf(map: YAMLMap): Map<unknown, Pair> {
    return new Map(map.items.flatMap((pair) => (this.#library.isScalar(pair.key) ? [[pair.key.value, pair]] : [])));
  }

  #nodeOf(value: unknown): Node {
    const { Pair, Scalar, YAMLMap, YAMLSeq } = this.#library;
    if (Array.isArray(value)) {
      const seq = new YAMLSeq();
      seq.items = value.map((item) => this.#nodeOf(item));
      return seq;
    }
    if (isJsonObject(value)) {
      const map = new YAMLMap();
      map.items = Object.entries(value).map(([key, item]) => new Pair(this.#nodeOf(key), this.#nodeOf(item)));
      return map;
    }
    const scalar = new Scalar(typeof value === 'string' ? value : String(value));
    if (typeof value !== 'string') scalar.type = Scalar.PLAIN;
    else if (this.#meansMore(value)) scalar.type = Scalar.QUOTE_DOUBLE;
    return scalar;
  }

  /** Whether a text without quotes would be read as something else than a string, by YAML 1.2 or by the 1.1 of older readers. */
  #meansMore(text: string): boolean {
    if (text.includes('\n')) return false;
    return (['1.1', '1.2'] as const).some((version) => /^["']/.test(this.#library.stringify(text, { version })));
  }
}

function isQuoted({ type }: Scalar): boolean {
  return type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE';
}

/** Whether a list begins as far left as the key that it belongs to. */
function hasUnindentedList(text: string): boolean {
  let margin: string | undefined;
  for (const line of text.split('\n')) {
    if (margin !== undefined && line.startsWith(`${margin}- `)) return true;
    const [, indent] = /^( *)[^\s#]/.exec(line) ?? [];
    const key = withoutTrailingBlanks(line);
    margin = indent !== undefined && key.endsWith(':') && key.length > indent.length + 1 ? indent : undefined;
  }
  return false;
}

function withoutTrailingBlanks(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === ' ' || line[end - 1] === '\t')) end -= 1;
  return line.slice(0, end);
}
