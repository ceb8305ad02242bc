const start = (name: string): string => `<!-- bench:${name} -->`;
const end = (name: string): string => `<!-- /bench:${name} -->`;

/**
 * Puts `text` between the markers `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`, in place of what stands there.
 *
 * @throws where the document has no such markers.
 */
export function replaceBetweenMarkers(document: string, name: string, text: string): string {
  const from = document.indexOf(start(name));
  const to = document.indexOf(end(name));
  if (from < 0 || to < from) {
    throw new Error(`the document has no place for ${name}: write ${start(name)} and ${end(name)} where it belongs`);
  }
  return `${document.slice(0, from)}${start(name)}\n${text.trim()}\n${document.slice(to)}`;
}
