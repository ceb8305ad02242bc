import { FileError, type FileNode } from '../file-system.ts';
import { openSource } from '../open-file.ts';
import { readLines } from '../read-lines.ts';
import { type Program, type Task, UsageError } from '../task.ts';
import { CLASSES } from '../shell/pattern.ts';
import { type Options, readOptions } from './options.ts';

/** What searches text by patterns. */
export const GREP_PROGRAMS: Readonly<Record<string, Program>> = {
  grep: (task, args) => grep(task, args),
  egrep: (task, args) => grep(task, ['-E', ...args]),
  fgrep: (task, args) => grep(task, ['-F', ...args]),
};

async function grep(task: Task, args: readonly string[]): Promise<number> {
  const counted = args.flatMap((arg) => (/^-[ABC]\d+$/.test(arg) ? [arg.slice(0, 2), arg.slice(2)] : [arg]));
  const options = readOptions(counted, 'qviEFcnolhHwxsrRe:A:B:C:m:');
  const patterns = [...options.all('e')];
  const names = [...options.rest];
  if (patterns.length === 0) {
    const pattern = names.shift();
    if (pattern === undefined) throw new UsageError('usage: grep [-qviEFcnolhHwxr] PATTERN [FILE]...', 2);
    patterns.push(...pattern.split('\n'));
  }
  const expression = expressionOf(patterns, options.flags);
  const deep = options.flags.has('r') || options.flags.has('R');
  const files = deep ? (names.length === 0 ? ['.'] : names).flatMap((name) => filesBelow(task, name)) : names;
  const titled = (files.length > 1 || deep || options.flags.has('H')) && !options.flags.has('h');
  let [found, failed] = [false, false];
  for (const name of files.length === 0 && !deep ? ['-'] : files) {
    try {
      if (await searchFile(task, name, expression, options, titled)) found = true;
      if (found && options.flags.has('q')) return 0;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      if (!options.flags.has('s')) await task.complain(`${name}: ${error.message}`);
      failed = true;
    }
  }
  return failed ? 2 : found ? 0 : 1;
}

function filesBelow(task: Task, name: string): string[] {
  const below = (path: string, node: FileNode): string[] => {
    if (node.kind !== 'directory') return node.kind === 'file' ? [path] : [];
    return [...node.entries].flatMap(([child, each]) => below(`${path.replace(/\/$/, '')}/${child}`, each));
  };
  return below(name, task.machine.files.get(task.path(name)));
}

async function searchFile(
  task: Task,
  name: string,
  expression: RegExp,
  options: Options,
  titled: boolean,
): Promise<boolean> {
  const { flags, values } = options;
  const source = name === '-' ? task.streams.stdin : openSource(task, task.path(name));
  const title = titled ? `${name === '-' ? '(standard input)' : name}:` : '';
  const after = Number(values.get('A') ?? values.get('C') ?? 0);
  const before = Number(values.get('B') ?? values.get('C') ?? 0);
  const most = Number(values.get('m') ?? Infinity);
  const silent = flags.has('q') || flags.has('c') || flags.has('l');
  let [count, number, owed]: [number, number, number] = [0, 0, 0];
  let held: string[] = [];
  // oxlint-disable-next-line asterism/linear-expression -- the pattern is the user's own, and only a simulated pod waits for it
  const everywhere = new RegExp(expression.source, `${expression.flags}g`);
  for await (const { text } of readLines(task, source)) {
    number += 1;
    const prefix = `${title}${flags.has('n') ? `${number}:` : ''}`;
    if (expression.test(text) === flags.has('v')) {
      if (owed > 0) await task.write(`${prefix.replace(/:$/, '-')}${text}\n`);
      else if (before > 0) held = [...held, `${prefix.replace(/:$/, '-')}${text}\n`].slice(-before);
      owed -= 1;
      continue;
    }
    count += 1;
    if (flags.has('q') || flags.has('l')) break;
    if (!silent) {
      await task.write(held.join(''));
      const parts = flags.has('o') ? [...text.matchAll(everywhere)].map(([part]) => part) : [text];
      await task.write(
        parts
          .filter((part) => part !== '' || !flags.has('o'))
          .map((part) => `${prefix}${part}\n`)
          .join(''),
      );
    }
    [held, owed] = [[], after];
    if (count >= most) break;
  }
  if (flags.has('l') && count > 0) await task.write(`${name}\n`);
  else if (flags.has('c') && !flags.has('q')) await task.write(`${title}${count}\n`);
  return count > 0;
}

function expressionOf(patterns: readonly string[], flags: ReadonlySet<string>): RegExp {
  const sources = patterns.map((pattern) => {
    if (flags.has('F')) return pattern.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&');
    return translated(pattern, flags.has('E'));
  });
  const joined = sources.map((source) => `(?:${source})`).join('|');
  const whole = flags.has('x') ? `^(?:${joined})$` : flags.has('w') ? `(?<!\\w)(?:${joined})(?!\\w)` : joined;
  try {
    // oxlint-disable-next-line asterism/linear-expression -- the pattern is the user's own, and only a simulated pod waits for it
    return new RegExp(whole, flags.has('i') ? 'i' : '');
  } catch {
    throw new UsageError(`bad regex '${patterns.join('\n')}'`, 2);
  }
}

/** A regular expression of POSIX as one of JavaScript; in a basic one `\(`, `\|`, `\+` and the like are the special forms. */
function translated(pattern: string, extended: boolean): string {
  const pieces = pattern.match(/\[\^?\]?(?:\[:\w+:\]|[^\]])*\]|\\.|[^\\[]+?|[\\[]/gs) ?? [];
  return pieces
    .map((piece) => {
      if (piece.length > 1 && piece.startsWith('[')) {
        const inner = piece.slice(1, -1).replaceAll('\\', '\\\\');
        return `[${inner
          .replaceAll(/\[:(\w+):\]/g, (_, name: string) => CLASSES[name] ?? '')
          .replace(/^(\^?)\]/, '$1\\]')
          .replaceAll(/(?<!\\)\[/g, '\\[')}]`;
      }
      if (piece === '\\<' || piece === '\\>') return '\\b';
      if (extended) return piece;
      if (/^[(){}|+?]$/.test(piece)) return `\\${piece}`;
      return /^\\[(){}|+?]$/.test(piece) ? piece.slice(1) : piece;
    })
    .join('');
}
