import { UsageError } from '../task.ts';

export interface Options {
  flags: ReadonlySet<string>;
  values: ReadonlyMap<string, string>;
  /** All values of an option that may be given again. */
  all(name: string): readonly string[];
  rest: readonly string[];
}

/**
 * Reads options as `getopt` does: `letters` lists them, with a `:` after one that has a value. Long options are looked up in
 * `long`, by the letter that they stand for. Throws a {@link UsageError} for one that is not there.
 */
export function readOptions(
  args: readonly string[],
  letters: string,
  long: Readonly<Record<string, string>> = {},
): Options {
  const given: [string, string][] = [];
  const rest: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (arg === '--') {
      rest.push(...args.slice(index + 1));
      break;
    }
    if (arg.startsWith('--')) {
      const [name = '', value] = arg.slice(2).split(/=(.*)/s, 2);
      const letter = long[name];
      if (letter === undefined) throw new UsageError(`unrecognized option: ${name}`);
      given.push([letter, value ?? (letters.includes(`${letter}:`) ? (args[(index += 1)] ?? '') : '')]);
    } else if (arg.startsWith('-') && arg.length > 1) {
      index += readLetters(arg, args[index + 1], letters, given);
    } else {
      rest.push(arg);
    }
  }
  const values = new Map(given);
  return {
    flags: new Set(values.keys()),
    values,
    rest,
    all: (name) => given.filter(([each]) => each === name).map(([, value]) => value),
  };
}

/** Reads a group of options: how many further arguments it took. */
function readLetters(arg: string, next: string | undefined, letters: string, given: [string, string][]): number {
  for (let at = 1; at < arg.length; at += 1) {
    const letter = arg[at] ?? '';
    const place = letters.indexOf(letter);
    if (place < 0 || letter === ':') throw new UsageError(`unrecognized option: ${letter}`);
    if (letters[place + 1] !== ':') {
      given.push([letter, '']);
      continue;
    }
    const attached = arg.slice(at + 1);
    if (attached === '' && next === undefined) throw new UsageError(`option requires an argument: ${letter}`);
    given.push([letter, attached === '' ? (next ?? '') : attached]);
    return attached === '' ? 1 : 0;
  }
  return 0;
}

/** A number of bytes, lines or so: `10`, `4k`, `2M`. Throws a {@link UsageError}. */
export function readCount(text: string): number {
  const match = /^([+-]?\d+)([bckKmMgG]?)[bB]?$/.exec(text);
  if (!match) throw new UsageError(`invalid number '${text}'`);
  const factors: Record<string, number> = { b: 512, c: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };
  return Number(match[1]) * (factors[(match[2] ?? '').toLowerCase()] ?? 1);
}
