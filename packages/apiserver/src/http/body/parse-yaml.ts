import { setImmediate as nextTurn } from 'node:timers/promises';
import { LongWork } from '../../registry/long-work.ts';
import { requireFewValues } from '../../registry/value-limit.ts';
import { YamlInspection } from './yaml-inspection.ts';

/** As deep as a body in JSON may nest. */
const MAX_YAML_DEPTH = 512;
/** More than an object of 1.5 MiB has, which is the largest that Kubernetes stores. */
const MAX_YAML_TOKENS = 500_000;
const TOKENS_IN_ONE_TURN = 1_000;
/** A text whose tree takes long to walk. */
const LONG_TEXT = 256 * 1024;

/**
 * The first document of a YAML text as Kubernetes reads it: YAML 1.1 (`yes` is true, `010` is 8), dates and `12:30` stay text, and of
 * keys that stand twice the last one counts. `duplicates` names those in the words of its strict decoder.
 *
 * The parser is loaded at the first use.
 */
export async function parseYaml(text: string): Promise<{ value: unknown; duplicates: string[] }> {
  const library = await import('yaml');
  const lines = new library.LineCounter();
  const composer = new library.Composer({
    version: '1.1',
    merge: true,
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || !isTime(tag)),
    uniqueKeys: false, // It compares each with each.
  });
  let fault: Fault | undefined;
  // The first is enough: as many as a text has tokens would take minutes.
  composer['onError'] = (source: FaultSource, code: string, message: string, isWarning?: boolean) => {
    if (isWarning) return;
    const at = typeof source === 'number' ? source : Array.isArray(source) ? source[0] : source.offset;
    throw (fault ??= { code, message, pos: [at, at] });
  };
  let document: import('yaml').Document.Parsed | undefined;
  try {
    document = await compose(composer, tokensOf(text, library, lines));
    fault = document?.errors[0];
  } catch (error) {
    if (fault === undefined) throw error;
  }
  if (fault !== undefined) throw new Error(`yaml: ${wordsOf(fault, text)}`, { cause: fault });
  if (document === undefined) return { value: undefined, duplicates: [] };
  const { duplicates, values } = new YamlInspection(library, lines, document.contents);
  if (text.length > LONG_TEXT) await nextTurn();
  const value: unknown = document.toJS({ maxAliasCount: -1 });
  requireFewValues(value, values);
  return { value, duplicates };
}

/** The first document. Others have their turn while it is read. */
async function compose(
  composer: import('yaml').Composer,
  tokens: Iterable<import('yaml').CST.Token | undefined>,
): Promise<import('yaml').Document.Parsed | undefined> {
  const work = new LongWork();
  for (const token of tokens) {
    if (work.isDue) await work.giveWay();
    if (token === undefined) continue;
    for (const document of composer.next(token)) return document;
  }
  for (const document of composer.end()) return document;
  return undefined;
}

/** Yields nothing now and then, for others to have their turn. Throws at once where the text nests too deep or is too much for one that reads no other request meanwhile. */
function* tokensOf(
  text: string,
  { Lexer, Parser }: typeof import('yaml'),
  lines: import('yaml').LineCounter,
): Generator<import('yaml').CST.Token | undefined> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  let tokens = 0;
  for (const token of new Lexer().lex(text)) {
    yield* parser.next(token);
    if (parser.stack.length > MAX_YAML_DEPTH) throw new Error('yaml: exceeded max depth');
    if (++tokens % TOKENS_IN_ONE_TURN === 0) yield undefined;
    if (tokens > MAX_YAML_TOKENS) throw new Error(`yaml: document has more than ${MAX_YAML_TOKENS} tokens`);
  }
  yield* parser.end();
}

/** Dates, and numbers in base 60, which Go's parser does not know. */
function isTime(tag: { tag: string; format?: string }): boolean {
  return tag.tag === 'tag:yaml.org,2002:timestamp' || tag.format === 'TIME';
}

/** Where the parser sees a fault: an offset, a range, or what stands there. */
type FaultSource = number | [number, number] | { offset: number };

interface Fault {
  code: string;
  message: string;
  /** Of characters in the text. */
  pos: [start: number, end: number];
}

/** The fault in the words of the parser that Kubernetes uses, where it is one of the usual ones. */
function wordsOf({ code, message, pos }: Fault, text: string): string {
  const at = lineOf(text, pos[0]);
  const inLine = (line: number, words: string): string => (line > 0 ? `line ${line}: ${words}` : words);
  if (/^Nested mappings are not allowed|^Implicit keys need/.test(message)) {
    return inLine(at > 1 ? at : 0, 'mapping values are not allowed in this context');
  }
  if (/^Flow (?:map|sequence) .*must end/.test(message)) {
    const close = message.includes('}') ? '}' : ']';
    const isOpen = /[{[,:]\s*$/.test(text);
    return inLine(
      text.split('\n').length,
      isOpen ? 'did not find expected node content' : `did not find expected ',' or '${close}'`,
    );
  }
  if (code === 'TAB_AS_INDENT') return inLine(at, 'found character that cannot start any token');
  if (message.startsWith('Missing closing')) return inLine(text.split('\n').length, 'found unexpected end of stream');
  return inLine(at, message);
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
