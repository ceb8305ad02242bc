import { StoreError } from '../store-error.ts';

/** A parsed path: a member by name, an element by index, or every element of an array. */
export type FieldPathSegment = { key: string } | { index: number } | { each: true };
export type FieldPath = readonly FieldPathSegment[];

/**
 * Reads the path of a field: `.status.phase`, `.spec.containers[].image`, `.spec.ports[0].port`,
 * `.metadata.annotations['a.b/c']`, `.metadata.annotations.'a.b/c'`. The first dot may be left out.
 *
 *     path    = ( name | segment ) { segment }
 *     segment = "." name | "[" ( "" | digits | quoted ) "]"
 *     name    = quoted | one or more characters but . [ ] ' " and white space
 *     quoted  = text in quotes of either kind; "\" takes the special meaning from the character behind it
 *
 * @throws StoreError `INVALID_QUERY` that says what is wrong, and where.
 */
export function parseFieldPath(text: string): FieldPath {
  return new Parser(text).path();
}

/** More than any array has elements. */
const LONGEST_INDEX = 9;

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  path(): FieldPath {
    const isBare = !/^[.[]/.test(this.#text);
    const segments: FieldPathSegment[] = isBare ? [{ key: this.#name() }] : [];
    while (this.#at < this.#text.length) segments.push(this.#segment());
    return segments;
  }

  #segment(): FieldPathSegment {
    if (this.#take('.')) return { key: this.#name() };
    if (!this.#take('[')) throw this.#wrong("expected '.' or '['");
    const segment = this.#inBrackets();
    if (!this.#take(']')) throw this.#wrong("expected ']'");
    return segment;
  }

  #inBrackets(): FieldPathSegment {
    if (this.#text.startsWith(']', this.#at)) return { each: true };
    const key = this.#quoted();
    if (key !== undefined) return { key };
    const digits = this.#match(/\d+/y);
    if (digits === undefined) throw this.#wrong("expected ']', the index of an element, or a name in quotes");
    if (digits.length > LONGEST_INDEX) throw this.#wrong(`the index ${digits} has over ${LONGEST_INDEX} digits`);
    return { index: Number(digits) };
  }

  #name(): string {
    const name = this.#quoted() ?? this.#match(/[^.[\]'"\s]+/y);
    if (name === undefined)
      throw this.#wrong('expected a name, in quotes if it has any of .[]\'" or white space in it,');
    return name;
  }

  #quoted(): string | undefined {
    const quote = this.#text.charAt(this.#at);
    if (quote !== "'" && quote !== '"') return undefined;
    const found = this.#match(quote === "'" ? /'(?:[^'\\]|\\.)*'/sy : /"(?:[^"\\]|\\.)*"/sy);
    if (found === undefined) throw this.#wrong(`missing the ${quote} that closes the quote`);
    return found.slice(1, -1).replaceAll(/\\(.)/gs, '$1');
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #take(token: string): boolean {
    const isThere = this.#text.startsWith(token, this.#at);
    if (isThere) this.#at += token.length;
    return isThere;
  }

  #wrong(why: string): StoreError {
    const where = this.#at >= this.#text.length ? 'at its end' : `before ${JSON.stringify(this.#text.slice(this.#at))}`;
    return new StoreError('INVALID_QUERY', `the field path ${JSON.stringify(this.#text)}: ${why} ${where}`);
  }
}
