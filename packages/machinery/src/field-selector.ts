import { badRequest } from './status.ts';

export interface FieldRequirement {
  /** The path as the kind names it, e.g. `metadata.name`, `spec.nodeName`, `involvedObject.kind`. */
  path: string;
  operator: '=' | '!=';
  value: string;
}

/**
 * Parses `metadata.name=web,status.phase!=Running`. `==` means `=`; in a value, `\` stands before `,`, `=` and `\`. Whether a
 * path can be selected by is for the kind to say.
 *
 * @throws StatusError 400 in the words of a kube-apiserver.
 */
export function parseFieldSelector(text: string): FieldRequirement[] {
  return splitTerms(text)
    .filter((term) => term !== '')
    .map((term) => {
      const found = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
      if (!found) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
      const [, path = '', operator = '', value = ''] = found;
      return { path, operator: operator === '!=' ? '!=' : '=', value: unescapeValue(value) };
    });
}

/** The inverse of {@link parseFieldSelector}. */
export function formatFieldSelector(requirements: readonly FieldRequirement[]): string {
  return requirements
    .map(({ path, operator, value }) => `${path}${operator}${value.replaceAll(/[\\,=]/g, (c) => `\\${c}`)}`)
    .join(',');
}

/** Whether all requirements hold. A field that is absent is the empty string. */
export function matchesFields(
  requirements: readonly FieldRequirement[],
  fieldOf: (path: string) => string | undefined,
): boolean {
  return requirements.every(({ path, operator, value }) => ((fieldOf(path) ?? '') === value) === (operator === '='));
}

/** Cuts at the commas that no backslash escapes. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let term = '';
  for (let i = 0; i < text.length; i += 1) {
    const character = text.charAt(i);
    if (character === ',') {
      terms.push(term);
      term = '';
    } else if (character === '\\') {
      term += text.slice(i, i + 2);
      i += 1;
    } else {
      term += character;
    }
  }
  return [...terms, term];
}

function unescapeValue(value: string): string {
  let result = '';
  for (let i = 0; i < value.length; i += 1) {
    let character = value.charAt(i);
    if (character === '\\') {
      i += 1;
      character = value.charAt(i);
      if (!/^[\\,=]$/.test(character)) {
        throw badRequest(`invalid field selector: invalid escape sequence: \\${character}`);
      }
    } else if (character === '=' || character === ',') {
      throw badRequest(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`);
    }
    result += character;
  }
  return result;
}
