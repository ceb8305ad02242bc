import type { Source } from '../byte-stream.ts';
import { openSink } from '../open-file.ts';
import { readAll, readLines } from '../read-lines.ts';
import { checkMemory, type Program, type Task, UsageError } from '../task.ts';
import { forEachInput, readCount, readOptions } from './options.ts';

/** Programs that read text or bytes, and write some of it. */
export const TEXT_PROGRAMS: Readonly<Record<string, Program>> = {
  cat: (task, args) => forEachInput(task, readOptions(args, 'u').rest, (source) => task.copy(source)),
  head,
  tail,
  wc,
  grep,
  sort,
  tee: async (task, args) => {
    const { flags, rest } = readOptions(args, 'a');
    const files = rest.map((name) => openSink(task, task.path(name), { append: flags.has('a') }));
    for (let chunk = await task.read(); chunk; chunk = await task.read()) {
      for (const sink of [task.streams.stdout, ...files]) await task.write(chunk, sink);
    }
    return 0;
  },
};

/** Replaces `-5` by `-n 5`. */
function withCount(args: readonly string[]): string[] {
  return args.map((arg) => arg.replace(/^-(\d+)$/, '-n$1'));
}

async function head(task: Task, args: readonly string[]): Promise<number> {
  const { flags, rest } = readOptions(withCount(args), 'n:c:');
  const bytes = flags.get('c');
  return forEachInput(task, rest, async (source) => {
    let left = readCount(bytes ?? flags.get('n') ?? '10');
    for (let chunk = left > 0 && (await task.read(source)); chunk; chunk = left > 0 && (await task.read(source))) {
      const newline = chunk.indexOf(10);
      const end = bytes !== undefined ? Math.min(left, chunk.length) : newline < 0 ? chunk.length : newline + 1;
      left -= bytes !== undefined ? end : newline < 0 ? 0 : 1;
      if (end < chunk.length) source.unread(chunk.subarray(end));
      await task.write(chunk.subarray(0, end));
    }
  });
}

async function tail(task: Task, args: readonly string[]): Promise<number> {
  const { flags, rest } = readOptions(withCount(args), 'n:c:fF');
  const bytes = flags.get('c');
  const given = bytes ?? flags.get('n') ?? '10';
  const [fromStart, count] = [given.startsWith('+'), readCount(given)];
  return forEachInput(task, rest, async (source, name) => {
    if (bytes !== undefined) return tailBytes(task, source, fromStart ? count - 1 : -count);
    let [lines, seen]: [string[], number] = [[], 0];
    for await (const line of readLines(task, source)) {
      seen += 1;
      if (!fromStart || seen >= count) lines.push(`${line}\n`);
      if (!fromStart && lines.length > 2 * count + 10) lines = lines.slice(-count);
    }
    if (!fromStart) lines = lines.slice(Math.max(0, lines.length - count));
    await task.write(lines.join(''));
    if (flags.has('f') || flags.has('F')) await follow(task, source, name);
  });
}

/** Copies the bytes after the first `start`, or the last `-start` bytes. `kubectl cp --retries` asks for the former. */
async function tailBytes(task: Task, source: Source, start: number): Promise<void> {
  if (start < 0) return task.write((await readAll(task, source)).subarray(start));
  for (let skip = start, chunk = await task.read(source); chunk; chunk = await task.read(source)) {
    await task.write(chunk.subarray(skip));
    skip = Math.max(0, skip - chunk.length);
  }
}

/** Copies what is written to a file later. A device never ends: images keep containers running by `tail -f /dev/null`. */
async function follow(task: Task, source: Source, name: string): Promise<void> {
  const node = name === '-' ? undefined : task.machine.files.get(task.path(name));
  for (;;) {
    if (node?.kind === 'file') await task.copy(source);
    await task.until(node?.kind === 'file' ? node.changed.wait() : new Promise<void>(() => undefined));
  }
}

async function wc(task: Task, args: readonly string[]): Promise<number> {
  const { flags, rest } = readOptions(args, 'lwc');
  return forEachInput(task, rest, async (source, name) => {
    const counts = { l: 0, w: 0, c: 0 };
    for (let blank = true, chunk = await task.read(source); chunk; chunk = await task.read(source)) {
      counts.c += chunk.length;
      for (const byte of chunk) {
        if (byte === 10) counts.l += 1;
        if (byte > 32 && blank) counts.w += 1;
        blank = byte <= 32;
      }
    }
    const shown = (['l', 'w', 'c'] as const).filter((flag) => flags.size === 0 || flags.has(flag));
    const fields = shown.map((flag) => String(counts[flag]).padStart(shown.length > 1 ? 9 : 0));
    await task.write(`${fields.join(' ')}${name === '-' ? '' : ` ${name}`}\n`);
  });
}

async function grep(task: Task, args: readonly string[]): Promise<number> {
  const { flags, rest } = readOptions(args, 'EFivcnq');
  const [pattern, ...names] = rest;
  if (pattern === undefined) throw new UsageError('a pattern is required', 2);
  const source = flags.has('F')
    ? pattern.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')
    : flags.has('E')
      ? pattern
      : basic(pattern);
  // oxlint-disable-next-line asterism/linear-expression -- the pattern is the user's own, and only a simulated pod waits for it
  const expression = new RegExp(source, flags.has('i') ? 'i' : '');
  const quiet = flags.has('q') || flags.has('c');
  let found = 0;
  const code = await forEachInput(task, names, async (input, name) => {
    let number = 0;
    for await (const line of readLines(task, input)) {
      number += 1;
      if (expression.test(line) === flags.has('v')) continue;
      found += 1;
      const prefix = `${names.length > 1 ? `${name}:` : ''}${flags.has('n') ? `${number}:` : ''}`;
      if (!quiet) await task.write(`${prefix}${line}\n`);
    }
  });
  if (flags.has('c')) await task.write(`${found}\n`);
  return code === 0 ? Number(found === 0) : 2;
}

/** A basic regular expression as one of JavaScript: `\\(`, `\\|`, `\\+` and the like are special, and `(`, `|`, `+` are not. */
function basic(pattern: string): string {
  return pattern.replaceAll(/\\?[(){}|+?]/g, (found) => (found.length > 1 ? found.slice(1) : `\\${found}`));
}

async function sort(task: Task, args: readonly string[]): Promise<number> {
  const { flags, rest } = readOptions(args, 'nru');
  const lines: string[] = [];
  let size = 0;
  const code = await forEachInput(task, rest, async (source) => {
    for await (const line of readLines(task, source)) {
      checkMemory((size += line.length + 32));
      lines.push(line);
    }
  });
  const number = (text: string): number => (flags.has('n') ? Number.parseFloat(text) || 0 : 0);
  const sorted = lines.toSorted((a, b) => number(a) - number(b) || (a < b ? -1 : Number(a > b)));
  const chosen = flags.has('u') ? [...new Set(sorted)] : sorted;
  await task.write((flags.has('r') ? chosen.toReversed() : chosen).map((line) => `${line}\n`).join(''));
  return code;
}
