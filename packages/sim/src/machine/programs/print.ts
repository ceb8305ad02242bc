import { type Program, UsageError } from '../task.ts';

/** What prints its arguments. */
export const PRINT_PROGRAMS: Readonly<Record<string, Program>> = {
  echo: async (task, args) => {
    const rest = [...args];
    let [newline, escapes] = [true, false];
    while (/^-[neE]+$/.test(rest[0] ?? '')) {
      const option = rest.shift() ?? '';
      if (option.includes('n')) newline = false;
      if (option.includes('e')) escapes = true;
    }
    const text = rest.join(' ');
    const { result, stop } = escapes ? unescape(text) : { result: text, stop: false };
    await task.write(newline && !stop ? `${result}\n` : result);
    return 0;
  },
  printf: async (task, [format, ...args]) => {
    if (format === undefined) throw new UsageError('usage: printf FORMAT [ARG]...');
    const values = [...args];
    let text = '';
    do {
      const before = values.length;
      text += formatOnce(format, values);
      if (values.length === before) break;
    } while (values.length > 0);
    await task.write(text);
    return 0;
  },
  yes: async (task, args) => {
    const line = `${args.length === 0 ? 'y' : args.join(' ')}\n`;
    const chunk = Buffer.from(line.repeat(Math.max(1, Math.floor(8192 / line.length))));
    for (;;) await task.write(chunk);
  },
  seq: async (task, args) => {
    const numbers = args.filter((each) => !/^-[ws]/.test(each)).map(Number);
    if (numbers.length === 0 || numbers.some(Number.isNaN)) throw new UsageError('invalid number');
    const first = numbers.length > 1 ? (numbers[0] ?? 1) : 1;
    const step = numbers.length > 2 ? (numbers[1] ?? 1) : 1;
    const last = numbers.at(-1) ?? 0;
    const digits = Math.max(...args.map((each) => each.split('.')[1]?.length ?? 0));
    let lines = '';
    for (let index = 0; step !== 0; index += 1) {
      const value = first + index * step;
      if (step > 0 ? value > last + 1e-9 : value < last - 1e-9) break;
      lines += `${value.toFixed(digits)}\n`;
      if (lines.length < 8192) continue;
      await task.write(lines);
      lines = '';
    }
    await task.write(lines);
    return 0;
  },
};

const MAX_WIDTH = 65_536;

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};

/** Replaces `\n` and its like; `\c` stops everything. */
export function unescape(text: string): { result: string; stop: boolean } {
  const end = /(?<!\\)(?:\\\\)*\\c/.exec(text);
  const kept = end ? text.slice(0, end.index + end[0].length - 2) : text;
  const result = kept.replaceAll(
    /\\(?:x([0-9a-fA-F]{1,2})|0?([0-7]{1,3})|(.))/gs,
    (found, hex, octal, letter: string | undefined) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(String(hex), 16));
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(String(octal), 8));
      return ESCAPES[letter ?? ''] ?? String(found);
    },
  );
  return { result, stop: end !== null };
}

function formatOnce(format: string, values: string[]): string {
  const pieces = format.matchAll(
    /%([-+ 0#]*)(\*|[1-9]\d*|)(?:\.(\d*))?([sdiuoxXcbfeEgGq%])|\\(?:x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)|[^%\\]+|[%\\]/gs,
  );
  let text = '';
  for (const [piece, flags = '', width = '', precision, kind] of pieces) {
    if (kind === undefined) text += piece.startsWith('\\') ? unescape(piece).result : piece;
    else if (kind === '%') text += '%';
    else {
      const wide = Math.min(MAX_WIDTH, width === '*' ? Number(values.shift() ?? 0) : Number(width));
      const shown = formatValue(kind, values.shift() ?? '', precision, flags);
      const numeric = 'diuoxXfeEgG'.includes(kind);
      text += flags.includes('-')
        ? shown.padEnd(wide)
        : flags.includes('0') && numeric
          ? zeroFilled(shown, wide)
          : shown.padStart(wide);
    }
  }
  return text;
}

function zeroFilled(text: string, width: number): string {
  return text.startsWith('-') ? `-${text.slice(1).padStart(width - 1, '0')}` : text.padStart(width, '0');
}

function formatValue(kind: string, value: string, precision: string | undefined, flags: string): string {
  if (kind === 's' || kind === 'q') return precision === undefined ? value : value.slice(0, Number(precision));
  if (kind === 'b') return unescape(value).result;
  if (kind === 'c') return value.slice(0, 1);
  const number = /^['"]/.test(value) ? (value.codePointAt(1) ?? 0) : Number(value === '' ? 0 : value);
  if (Number.isNaN(number)) throw new UsageError(`invalid number '${value}'`);
  const sign = flags.includes('+') && number >= 0 ? '+' : '';
  if ('diu'.includes(kind)) return sign + String(Math.trunc(number)).padStart(Number(precision ?? 0), '0');
  if (kind === 'o') return Math.trunc(number).toString(8);
  if (kind === 'x') return Math.trunc(number).toString(16);
  if (kind === 'X') return Math.trunc(number).toString(16).toUpperCase();
  if (kind === 'f') return sign + number.toFixed(Number(precision ?? 6));
  if (kind === 'e' || kind === 'E') return number.toExponential(Number(precision ?? 6));
  return String(number);
}
