/**
 * The first document of a YAML text as Kubernetes reads it: YAML 1.1 (`yes` is true, `010` is 8), dates and `12:30` stay text, and of
 * keys that stand twice the last one counts. `duplicates` names those in the words of its strict decoder.
 *
 * The parser is loaded at the first use.
 */
export async function parseYaml(text: string): Promise<{ value: unknown; duplicates: string[] }> {
  const { isScalar, LineCounter, parseAllDocuments } = await import('yaml');
  const lines = new LineCounter();
  const duplicates: string[] = [];
  const documents = parseAllDocuments(text, {
    version: '1.1',
    merge: true,
    lineCounter: lines,
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || !isTime(tag)),
    uniqueKeys: (a, b) => {
      if (!isScalar(a) || !isScalar(b) || a.value !== b.value) return false;
      const { line } = lines.linePos(b.range?.[0] ?? 0);
      duplicates.push(
        `yaml: unmarshal errors:\n  line ${line}: key ${JSON.stringify(String(b.value))} already set in map`,
      );
      return false;
    },
  });
  if (!Array.isArray(documents) || documents.length === 0) return { value: undefined, duplicates };
  const [document] = documents;
  const fault = document?.errors[0];
  if (fault !== undefined) throw new Error(`yaml: ${wordsOf(fault, text)}`, { cause: fault });
  const value: unknown = document?.toJS({ maxAliasCount: 100 });
  return { value, duplicates };
}

/** Dates, and numbers in base 60, which Go's parser does not know. */
function isTime(tag: { tag: string; format?: string }): boolean {
  return tag.tag === 'tag:yaml.org,2002:timestamp' || tag.format === 'TIME';
}

/** The fault in the words of the parser that Kubernetes uses, where it is one of the usual ones. */
function wordsOf(
  { code, message, pos }: { code: string; message: string; pos: [number, number] },
  text: string,
): string {
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
  return message.split('\n')[0] ?? message;
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
