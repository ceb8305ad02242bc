import { type Program, UsageError } from '../task.ts';

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\', e: '\x1b', n: '\n', r: '\r', t: '\t' };

/** Programs that print their arguments. */
export const PRINT_PROGRAMS: Readonly<Record<string, Program>> = {
  echo: async (task, args) => {
    const start = args.findIndex((arg) => !/^-[neE]+$/.test(arg));
    const options = args.slice(0, start < 0 ? undefined : start).join('');
    const text = start < 0 ? '' : args.slice(start).join(' ');
    await task.write((options.includes('e') ? unescape(text) : text) + (options.includes('n') ? '' : '\n'));
    return 0;
  },
  printf: async (task, [format = '', ...values]) => {
    let text = '';
    let before: number;
    do {
      before = values.length;
      text += formatOnce(format, values);
    } while (values.length > 0 && values.length < before);
    await task.write(text);
    return 0;
  },
  seq: async (task, args) => {
    const [last = 0, first = 1] = args.map(Number).toReversed();
    if (args.length > 2 || ![first, last].every(Number.isInteger)) throw new UsageError('usage: seq [FIRST] LAST');
    for (let value = first; value <= last; value += 1) await task.write(`${value}\n`);
    return 0;
  },
};

/** Replaces `\n` and the like, and bytes in octal. */
function unescape(text: string): string {
  return text.replaceAll(/\\(?:0?([0-7]{1,3})|(.))/gs, (found, octal: string | undefined, letter: string) =>
    octal === undefined ? (ESCAPES[letter] ?? found) : String.fromCharCode(Number.parseInt(octal, 8)),
  );
}

function formatOnce(format: string, values: string[]): string {
  return format.replaceAll(/%(-?)(0?)(\d{0,4})([sdx%])|\\(?:[0-7]{1,3}|.)/gs, (found, left, zero, width, kind) => {
    if (kind === undefined) return unescape(found);
    if (kind === '%') return '%';
    const value = values.shift() ?? '';
    if (kind !== 's' && !Number.isInteger(Number(value))) throw new UsageError(`invalid number '${value}'`);
    const text = kind === 's' ? value : Number(value).toString(kind === 'x' ? 16 : 10);
    return left ? text.padEnd(Number(width)) : text.padStart(Number(width), zero || ' ');
  });
}
