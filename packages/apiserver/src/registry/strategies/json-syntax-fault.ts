/** What Go's `encoding/json` says of a text that is no JSON. Only the places where texts commonly break are told apart. */
export function jsonSyntaxFault(text: string): string {
  const trimmed = text.trimStart();
  if (trimmed === '') return 'unexpected end of JSON input';
  const first = trimmed[0] ?? '';
  if (!/[[{"\-0-9tfn]/.test(first)) return `invalid character ${quoted(first)} looking for beginning of value`;
  const literal = ['true', 'false', 'null'].find((each) => each.startsWith(first));
  if (literal) {
    for (const [index, letter] of literal.split('').entries()) {
      const found = trimmed[index];
      if (found === undefined) return 'unexpected end of JSON input';
      if (found !== letter)
        return `invalid character ${quoted(found)} in literal ${literal} (expecting ${quoted(letter)})`;
    }
    return afterTopLevel(trimmed.slice(literal.length));
  }
  if (first === '{' || first === '[') return faultWithin(trimmed);
  return 'unexpected end of JSON input';
}

function afterTopLevel(rest: string): string {
  const next = rest.trimStart()[0];
  if (next === undefined) return 'unexpected end of JSON input';
  return `invalid character ${quoted(next)} after top-level value`;
}

function faultWithin(text: string): string {
  const next = text.slice(1).trimStart()[0];
  if (next === undefined) return 'unexpected end of JSON input';
  if (text[0] === '{' && next !== '"' && next !== '}')
    return `invalid character ${quoted(next)} looking for beginning of object key string`;
  if (text[0] === '[' && !/[[{"\-0-9tfn\]]/.test(next))
    return `invalid character ${quoted(next)} looking for beginning of value`;
  return 'unexpected end of JSON input';
}

function quoted(character: string): string {
  if (character === "'") return String.raw`'\''`;
  return character === '"' ? `'"'` : `'${JSON.stringify(character).slice(1, -1)}'`;
}
