/**
 * The text without any of `character` at its end. An expression such as `/-+$/` looks for the end from each of its matches, which
 * takes quadratic time.
 */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
