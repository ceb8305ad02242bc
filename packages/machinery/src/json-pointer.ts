import { isJsonObject, ownMember } from './json-object.ts';

/**
 * The reference tokens of an RFC 6901 pointer: `['data', 'a/b']` of `/data/a~1b`, none of the empty pointer.
 *
 * @returns undefined where the text is no pointer: neither empty nor beginning with `/`.
 */
export function parseJsonPointer(pointer: string): string[] | undefined {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) return undefined;
  return pointer.slice(1).split('/').map(unescapeToken);
}

/** The inverse of {@link parseJsonPointer}. */
export function formatJsonPointer(tokens: readonly (string | number)[]): string {
  return tokens.map((token) => `/${String(token).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** What stands at the tokens, or undefined where the path leaves the document. */
export function valueAtPointer(document: unknown, tokens: readonly string[]): unknown {
  let value = document;
  for (const token of tokens) {
    if (Array.isArray(value)) value = /^(0|[1-9]\d*)$/.test(token) ? value[Number(token)] : undefined;
    else if (isJsonObject(value)) value = ownMember(value, token);
    else return undefined;
  }
  return value;
}

function unescapeToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
