/**
 * Whether a command printed what a document shows. Runs of spaces count as one, lines must come in the order shown; `…` stands for
 * anything within a line, a line of `…` alone for any lines, or none.
 */
export function matchesOutput(expected: string, printed: string): boolean {
  const wanted = linesOf(expected);
  const lines = linesOf(printed);
  return matchLines(wanted, lines);
}

function matchLines(wanted: readonly string[], lines: readonly string[]): boolean {
  const [first, ...rest] = wanted;
  if (first === undefined) return lines.length === 0;
  if (first === '…') return lines.some((_, index) => matchLines(rest, lines.slice(index))) || matchLines(rest, []);
  const [line, ...others] = lines;
  return line !== undefined && lineMatches(first, line) && matchLines(rest, others);
}

function lineMatches(wanted: string, line: string): boolean {
  const pattern = wanted
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${pattern}$`).test(line);
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .filter((line) => line !== '');
}
