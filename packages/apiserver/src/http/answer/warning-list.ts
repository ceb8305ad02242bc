import { encodeHeaderText } from '@asterism/client';

/** Characters of all warnings of an answer, as upstream bounds them; beyond that each is cut. */
const MAX_TOTAL = 4_096;
const MAX_EACH = 256;
const CONTROL_CHARACTER = /\p{Cc}/u;

/** The warnings of one answer: each text once, and together no more than a header can be. */
export class WarningList {
  readonly #texts = new Set<string>();

  add(text: string): void {
    if (text !== '') this.#texts.add(text);
  }

  /** The values of `Warning` headers. A text with control characters is left out, as it is upstream. */
  headers(): string[] {
    const sendable = [...this.#texts].filter((text) => !CONTROL_CHARACTER.test(text)).map((text) => Array.from(text));
    const total = sendable.reduce((sum, { length }) => sum + length, 0);
    return (total <= MAX_TOTAL ? sendable : cut(sendable)).map(warningHeader);
  }
}

function cut(texts: readonly string[][]): string[][] {
  let written = 0;
  const kept: string[][] = [];
  for (const text of texts) {
    if (written >= MAX_TOTAL) break;
    const short = text.slice(0, MAX_EACH);
    written += short.length;
    kept.push(short);
  }
  return kept;
}

/** Code 299, "miscellaneous persistent warning", of an unnamed agent (RFC 7234). */
function warningHeader(characters: readonly string[]): string {
  return `299 - "${encodeHeaderText(characters.join('')).replaceAll(/[\\"]/g, '\\$&')}"`;
}
