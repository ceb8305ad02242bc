/** Line breaks of a text become visible: `\n`. Messages of members cannot look like lines of the command then. */
export function escapeBreaks(text: string): string {
  return text.replaceAll(/\r?\n/g, '\\n');
}

/**
 * One line of output. Names and messages in it stay on that line, even if a member put line breaks into them. Commands write single lines
 * with it; a test refuses the others.
 */
export function oneLine(text: string): string {
  return `${escapeBreaks(text)}\n`;
}
