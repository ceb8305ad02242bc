/** A message shows this many characters of a longer text. Readers need no more, and each fault would repeat the text. */
const MOST_SHOWN = 16_384;

/** The text, or the start of one that is too long for a message. */
export function cutForMessage(text: string, most = MOST_SHOWN): string {
  return text.length <= most ? text : `${text.slice(0, most)}... (${text.length} characters)`;
}
