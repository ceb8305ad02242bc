/** A fault of an expression at a place of its text. */
export interface CelFault {
  at: number;
  message: string;
}

const MAX_FAULTS = 100;
/** Each fault has its whole line: of long lines there are fewer faults. */
const MAX_TEXT = 50_000;

/** Faults as cel-go prints them: `ERROR: <input>:1:6: …`, the line, and dots that lead to the place. */
export function describeFaults(faults: readonly CelFault[], text: string): string {
  const shown: string[] = [];
  let left = MAX_TEXT;
  for (const { at, message } of [...faults].sort((a, b) => a.at - b.at).slice(0, MAX_FAULTS)) {
    const fault = pointed(message, text, at);
    left -= fault.length;
    if (left < 0 && shown.length > 0) break;
    shown.push(fault);
  }
  return shown.join('\n');
}

function pointed(message: string, text: string, at: number): string {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  const end = text.indexOf('\n', start);
  const line = text.slice(start, end < 0 ? text.length : end);
  const row = text.slice(0, start).split('\n').length;
  const column = Array.from(text.slice(start, at)).length;
  return `ERROR: <input>:${row}:${column + 1}: ${message}\n | ${line}\n | ${'.'.repeat(column)}^`;
}
