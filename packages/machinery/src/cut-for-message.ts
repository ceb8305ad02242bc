/** A message shows this many characters of a longer text. Readers need no more, and each fault would repeat the text. */
const MOST_SHOWN = 16_384;

/**
 * The text, or the start of one that is too long for a message. Names in a body that is not decoded yet can be anything: what is no text is
 * shown as JavaScript writes it.
 */
export function cutForMessage(value: unknown, most = MOST_SHOWN): string {
  const text = typeof value === 'string' ? value : String(value);
  return text.length <= most ? text : `${text.slice(0, most)}... (${text.length} characters)`;
}
