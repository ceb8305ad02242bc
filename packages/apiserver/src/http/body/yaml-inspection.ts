import type { LineCounter, Node, ParsedNode, Scalar, YAMLMap } from 'yaml';
import { requireReadable } from '../../registry/value-limit.ts';

/** Bytes of an object in JSON, about, that aliases may make of a document. */
const MAX_EXPANDED = 8 * 1024 * 1024;
/** To resolve an alias the library walks all aliases and anchors before it. */
const MAX_ALIAS_STEPS = 20_000_000;

/**
 * What a document that has been parsed would become. Throws, in the words of Go's parser, where a key is no scalar or where
 * aliases would make far more of it than was sent.
 */
export class YamlInspection {
  /** The keys that stand twice, in the words of Kubernetes' strict decoder. */
  readonly duplicates: string[] = [];
  /** How many values it has, those of aliases apart. */
  values = 1;
  readonly #library: typeof import('yaml');
  readonly #lines: LineCounter;
  /** By anchor, what it would become: of what has not ended yet, nothing is known. */
  readonly #anchored = new Map<string, { size?: number; isKey: boolean }>();

  #aliases = 0;
  #anchors = 0;

  constructor(library: typeof import('yaml'), lines: LineCounter, root: ParsedNode | null) {
    this.#library = library;
    this.#lines = lines;
    if (this.#measure(root) > MAX_EXPANDED) throw excessive();
    requireReadable(this.values);
    if (this.#aliases * (this.#aliases + this.#anchors) > MAX_ALIAS_STEPS) throw excessive();
  }

  #measure(node: Node | null): number {
    const { isAlias, isCollection, isMap, isScalar } = this.#library;
    if (isAlias(node)) return this.#measureAlias(node.source);
    const anchor = isScalar(node) || isCollection(node) ? node.anchor : undefined;
    if (anchor !== undefined) {
      this.#anchors += 1;
      this.#anchored.set(anchor, { isKey: false });
    }
    let size = 1;
    if (isScalar(node)) size += node.source?.length ?? 0;
    else if (isMap(node)) size += this.#measureMap(node as YAMLMap<Node, Node | null>);
    else if (isCollection(node))
      for (const item of node.items) {
        this.values += 1;
        size += this.#measure(item as Node | null);
      }
    if (anchor !== undefined) this.#anchored.set(anchor, { size, isKey: isScalar(node) });
    return size;
  }

  #measureAlias(anchor: string): number {
    this.#aliases += 1;
    const known = this.#anchored.get(anchor);
    if (known === undefined) throw new Error(`yaml: unknown anchor '${anchor}' referenced`);
    const { size } = known;
    if (size === undefined) throw new Error(`yaml: anchor '${anchor}' value contains itself`);
    if (size > MAX_EXPANDED) throw excessive();
    return size;
  }

  #measureMap({ items }: YAMLMap<Node, Node | null>): number {
    const { isAlias, isScalar } = this.#library;
    const keys = new Set<unknown>();
    let size = 0;
    for (const { key, value } of items) {
      if (isScalar(key)) this.#note(keys, key);
      else if (key !== null && !(isAlias(key) && this.#anchored.get(key.source)?.isKey))
        throw new Error(`yaml: line ${this.#lineOf(key)}: invalid map key`);
      this.values += 1;
      size += this.#measure(key) + this.#measure(value);
    }
    return size;
  }

  #note(keys: Set<unknown>, key: Scalar): void {
    if (keys.has(key.value) && this.duplicates.length < MAX_DUPLICATES) {
      const name = JSON.stringify(String(key.value));
      this.duplicates.push(`yaml: unmarshal errors:\n  line ${this.#lineOf(key)}: key ${name} already set in map`);
    }
    keys.add(key.value);
  }

  #lineOf(node: Node): number {
    return this.#lines.linePos(node.range?.[0] ?? 0).line;
  }
}

/** As many as upstream's decoder of JSON tells. */
const MAX_DUPLICATES = 100;

function excessive(): Error {
  return new Error('yaml: document contains excessive aliasing');
}
