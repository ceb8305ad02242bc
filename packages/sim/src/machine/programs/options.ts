import { parseArgs } from 'node:util';
import { FileError } from '../file-system.ts';
import { openSource } from '../open-file.ts';
import type { Source } from '../byte-stream.ts';
import { type Task, UsageError } from '../task.ts';

/** Reads options as `getopt` does: `letters` lists them, with a `:` after each that takes a value. */
export function readOptions(
  args: readonly string[],
  letters: string,
): { flags: ReadonlyMap<string, string>; rest: readonly string[] } {
  const options = Object.fromEntries(
    Array.from(letters.matchAll(/(\w)(:?)/g), ([, short = '', value]) => [
      short,
      { type: value ? ('string' as const) : ('boolean' as const), short },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    return { flags: new Map(Object.entries(values).map(([name, value]) => [name, String(value)])), rest: positionals };
  } catch (error) {
    throw new UsageError((error as Error).message.replace(/^Unknown option '-+(\w+)'.*/s, 'unrecognized option: $1'));
  }
}

/** A count, as of bytes or lines: `10`, `4k`, `2M`. */
export function readCount(text: string): number {
  const [, digits, unit = ''] = /^[-+]?(\d+)([kKmMgG]?)$/.exec(text) ?? [];
  if (digits === undefined) throw new UsageError(`invalid number '${text}'`);
  return Number(digits) * 1024 ** ' kmg'.indexOf(unit.toLowerCase() || ' ');
}

/** Opens each file that a program reads; without names, and for `-`, its standard input. Reports those that it cannot open. */
export function forEachInput(
  task: Task,
  names: readonly string[],
  body: (source: Source, name: string) => Promise<unknown>,
): Promise<number> {
  const open = (name: string): Source => (name === '-' ? task.streams.stdin : openSource(task, task.path(name)));
  return forEachName(task, names.length === 0 ? ['-'] : names, (name) => body(open(name), name), "can't open");
}

/** Runs `body` for each name and reports each `FileError`, with `what` failed: the exit code. */
export async function forEachName(
  task: Task,
  names: readonly string[],
  body: (name: string, path: string) => unknown,
  what?: string,
): Promise<number> {
  if (names.length === 0) throw new UsageError('missing operand');
  let code = 0;
  for (const name of names) {
    try {
      await body(name, name === '-' ? name : task.path(name));
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      await task.complain(what === undefined ? `${name}: ${error.message}` : `${what} '${name}': ${error.message}`);
      code = 1;
    }
  }
  return code;
}
