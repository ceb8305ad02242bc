import { createHash } from 'node:crypto';
import { withoutTrailing } from '@asterism/machinery';
import { FileError } from '../file-system.ts';
import { findProgram } from '../find-program.ts';
import { openSink, openSource } from '../open-file.ts';
import { readAll, readLines } from '../read-lines.ts';
import { checkMemory, type Program, type Task, UsageError } from '../task.ts';
import { forEachInput } from './inputs.ts';
import { readCount, readOptions } from './options.ts';
import { unescape } from './print.ts';
import { CLASSES } from '../shell/pattern.ts';

/** What reads text and writes it otherwise. */
export const TEXT_PROGRAMS: Readonly<Record<string, Program>> = {
  cat: (task, args) =>
    forEachInput(task, readOptions(args, 'unvAe').rest, async (source) => {
      for (let chunk = await task.read(source); chunk; chunk = await task.read(source)) await task.write(chunk);
    }),
  head,
  tail,
  wc,
  sort,
  uniq,
  cut,
  tr,
  tee,
  xargs,
  md5sum: (task, args) => checksum(task, args, 'md5'),
  sha1sum: (task, args) => checksum(task, args, 'sha1'),
  sha256sum: (task, args) => checksum(task, args, 'sha256'),
  basename: async (task, [path = '', suffix = '']) => {
    const name = withoutTrailing(path, '/').replace(/^.*\//, '');
    await task.write(
      `${suffix !== '' && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name || '/'}\n`,
    );
    return 0;
  },
  dirname: async (task, [path = '']) => {
    const plain = withoutTrailing(path, '/');
    const parent = withoutTrailing(plain.slice(0, Math.max(0, plain.lastIndexOf('/'))), '/');
    await task.write(`${parent === '' ? (path.startsWith('/') ? '/' : '.') : parent}\n`);
    return 0;
  },
  base64: async (task, args) => {
    const { flags, rest } = readOptions(args, 'dw:');
    return forEachInput(task, rest, async (source) => {
      const all = await readAll(task, source);
      await task.write(
        flags.has('d')
          ? Buffer.from(all.toString(), 'base64')
          : `${all.toString('base64').replaceAll(/(.{76})(?=.)/g, '$1\n')}\n`,
      );
    });
  },
};

/** `-5` for `-n 5`. */
function withCount(args: readonly string[]): string[] {
  return args.flatMap((arg) => (/^-\d+$/.test(arg) ? ['-n', arg.slice(1)] : [arg]));
}

async function head(task: Task, args: readonly string[]): Promise<number> {
  const { values, rest } = readOptions(withCount(args), 'n:c:q');
  const bytes = values.get('c');
  return forEachInput(task, rest, async (source, name) => {
    if (rest.length > 1) await task.write(`==> ${name} <==\n`);
    let left = readCount(bytes ?? values.get('n') ?? '10');
    for (
      let chunk = left > 0 ? await task.read(source) : undefined;
      chunk;
      chunk = left > 0 ? await task.read(source) : undefined
    ) {
      let end = 0;
      if (bytes !== undefined) {
        end = Math.min(left, chunk.length);
        left -= end;
      } else {
        while (left > 0 && end < chunk.length) {
          const newline = chunk.indexOf(10, end);
          end = newline < 0 ? chunk.length : newline + 1;
          if (newline >= 0) left -= 1;
        }
      }
      if (end < chunk.length) source.unread(chunk.subarray(end));
      await task.write(chunk.subarray(0, end));
    }
  });
}

async function tail(task: Task, args: readonly string[]): Promise<number> {
  const { flags, values, rest } = readOptions(withCount(args), 'n:c:fFqs:');
  const count = values.get('c') ?? values.get('n') ?? '10';
  const [fromStart, most] = [count.startsWith('+'), Math.abs(readCount(count))];
  const code = await forEachInput(task, rest, async (source, name) => {
    if (rest.length > 1) await task.write(`==> ${name} <==\n`);
    if (values.has('c')) {
      if (fromStart) return skipBytes(task, source, most - 1);
      const all = await readAll(task, source);
      return task.write(all.subarray(Math.max(0, all.length - most)));
    }
    let [kept, seen]: [string[], number] = [[], 0];
    for await (const { text, ended } of readLines(task, source)) {
      seen += 1;
      if (fromStart ? seen >= most : true) kept.push(ended ? `${text}\n` : text);
      if (!fromStart && kept.length > 2 * most + 10) kept = kept.slice(-most);
    }
    await task.write((fromStart ? kept : kept.slice(most === 0 ? kept.length : -most)).join(''));
    if (flags.has('f') || flags.has('F')) await follow(task, name, source);
  });
  return code;
}

/** Passes on what comes after so many bytes, however much. */
async function skipBytes(task: Task, source: Parameters<Task['read']>[0], count: number): Promise<void> {
  let left = count;
  for (let chunk = await task.read(source); chunk; chunk = await task.read(source)) {
    const part = chunk.subarray(Math.min(left, chunk.length));
    left -= chunk.length - part.length;
    if (part.length > 0) await task.write(part);
  }
}

async function follow(task: Task, name: string, source: Parameters<Task['read']>[0]): Promise<void> {
  const node = name === '-' ? undefined : task.machine.files.get(task.path(name));
  if (node?.kind !== 'file') {
    // a device has no end that is worth waiting for more: `tail -f /dev/null` is how containers are kept
    await task.until(new Promise<never>(() => undefined));
    return;
  }
  for (;;) {
    for (let chunk = await task.read(source); chunk; chunk = await task.read(source)) await task.write(chunk);
    await task.until(node.changed.wait());
  }
}

async function wc(task: Task, args: readonly string[]): Promise<number> {
  const { flags, rest } = readOptions(args, 'lwcm');
  const total = [0, 0, 0];
  const shown = [flags.has('l'), flags.has('w'), flags.has('c') || flags.has('m')];
  const all = !shown.includes(true);
  const line = (counts: readonly number[], name: string): string => {
    const fields = counts.filter((_, index) => all || shown[index]).map(String);
    const text = fields.length === 1 ? fields[0] : fields.map((field) => field.padStart(9)).join(' ');
    return `${text}${name === '-' ? '' : ` ${name}`}\n`;
  };
  const code = await forEachInput(task, rest, async (source, name) => {
    const counts = [0, 0, 0];
    let within = false;
    for (let chunk = await task.read(source); chunk; chunk = await task.read(source)) {
      counts[2] = (counts[2] ?? 0) + chunk.length;
      for (const byte of chunk) {
        const blank = byte === 32 || (byte >= 9 && byte <= 13);
        if (byte === 10) counts[0] = (counts[0] ?? 0) + 1;
        if (!blank && !within) counts[1] = (counts[1] ?? 0) + 1;
        within = !blank;
      }
    }
    for (const [index, count] of counts.entries()) total[index] = (total[index] ?? 0) + count;
    await task.write(line(counts, name));
  });
  if (rest.length > 1) await task.write(line(total, 'total'));
  return code;
}

async function sort(task: Task, args: readonly string[]): Promise<number> {
  const { flags, values, rest } = readOptions(args, 'nrufk:t:ohsVb');
  const lines: string[] = [];
  let size = 0;
  const code = await forEachInput(task, rest, async (source) => {
    for await (const { text } of readLines(task, source)) {
      checkMemory((size += text.length + 32));
      lines.push(text);
    }
  });
  const [first = '1', last] = (values.get('k') ?? '').replaceAll(/[a-z]/g, '').split(',');
  const numeric = flags.has('n') || /n/.test(values.get('k') ?? '');
  const key = (line: string): string => {
    if (!values.has('k')) return line;
    const fields = line.split(values.get('t') ?? /(?<=\S)\s+/);
    return fields
      .slice(Number.parseInt(first, 10) - 1, last ? Number.parseInt(last, 10) : undefined)
      .join(values.get('t') ?? ' ');
  };
  const number = (text: string): number => Number.parseFloat(text) || 0;
  const text = (line: string): string => (flags.has('f') ? line.toUpperCase() : line);
  const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  const byKey = (a: string, b: string): number =>
    numeric ? number(key(a)) - number(key(b)) : order(text(key(a)), text(key(b)));
  const direction = flags.has('r') || /r/.test(values.get('k') ?? '') ? -1 : 1;
  let sorted = lines.toSorted(
    (a, b) => direction * (byKey(a, b) || (flags.has('u') || flags.has('s') ? 0 : order(a, b))),
  );
  if (flags.has('u'))
    sorted = sorted.filter((line, index) => index === 0 || byKey(line, sorted[index - 1] ?? '') !== 0);
  await task.write(sorted.map((line) => `${line}\n`).join(''));
  return code;
}

async function uniq(task: Task, args: readonly string[]): Promise<number> {
  const { flags, rest } = readOptions(args, 'cdui');
  return forEachInput(task, rest.slice(0, 1), async (source) => {
    let [last, count]: [string | undefined, number] = [undefined, 0];
    const flush = async (): Promise<void> => {
      if (last === undefined || (flags.has('d') && count < 2) || (flags.has('u') && count > 1)) return;
      await task.write(flags.has('c') ? `${String(count).padStart(7)} ${last}\n` : `${last}\n`);
    };
    for await (const { text } of readLines(task, source)) {
      if (text === last || (flags.has('i') && text.toLowerCase() === last?.toLowerCase())) {
        count += 1;
        continue;
      }
      await flush();
      [last, count] = [text, 1];
    }
    await flush();
  });
}

async function cut(task: Task, args: readonly string[]): Promise<number> {
  const { flags, values, rest } = readOptions(args, 'd:f:c:b:s');
  const list = values.get('f') ?? values.get('c') ?? values.get('b');
  if (list === undefined) throw new UsageError('expected a list of bytes, characters, or fields');
  const ranges = list.split(',').map((range) => {
    const [from = '', to = from] = range.split('-');
    return [from === '' ? 1 : Number(from), to === '' ? Infinity : Number(to)] as const;
  });
  const chosen = (_: string, index: number): boolean =>
    ranges.some(([from, to]) => index + 1 >= from && index + 1 <= to);
  const separator = values.get('d') ?? '\t';
  return forEachInput(task, rest, async (source) => {
    for await (const { text } of readLines(task, source)) {
      if (!values.has('f')) await task.write(`${Array.from(text).filter(chosen).join('')}\n`);
      else if (text.includes(separator)) await task.write(`${text.split(separator).filter(chosen).join(separator)}\n`);
      else if (!flags.has('s')) await task.write(`${text}\n`);
    }
  });
}

function characters(set: string): string[] {
  const plain = unescape(set).result.replaceAll(/\[:(\w+):\]/g, (_, name: string) =>
    name === 'space' ? ' \t\n\r\f\v' : (CLASSES[name] ?? ''),
  );
  return Array.from(
    plain.replaceAll(/(.)-(.)/gs, (found, from: string, to: string) => {
      const [start, end] = [from.charCodeAt(0), to.charCodeAt(0)];
      return end < start
        ? String(found)
        : String.fromCharCode(...Array.from({ length: end - start + 1 }, (_, index) => start + index));
    }),
  );
}

async function tr(task: Task, args: readonly string[]): Promise<number> {
  const { flags, rest } = readOptions(args, 'dscC');
  const from = characters(rest[0] ?? '');
  const to = characters(rest[1] ?? '');
  const complement = flags.has('c') || flags.has('C');
  const chosen = (char: string): boolean => from.includes(char) !== complement;
  const squeezed = new Set(rest.length > 1 && !flags.has('d') ? to : from);
  let last = '';
  const one = (char: string): string => {
    if (flags.has('d') && chosen(char)) return '';
    const index = complement ? to.length - 1 : from.indexOf(char);
    const result =
      to.length > 0 && !flags.has('d') && chosen(char) ? (to[Math.min(index, to.length - 1)] ?? char) : char;
    if (flags.has('s') && result === last && squeezed.has(result) !== (complement && rest.length < 2)) return '';
    last = result;
    return result;
  };
  const { stdin } = task.streams;
  const decoder = new TextDecoder();
  for (let chunk = await task.read(stdin); chunk; chunk = await task.read(stdin)) {
    await task.write(
      Array.from(decoder.decode(chunk, { stream: true }))
        .map(one)
        .join(''),
    );
  }
  return 0;
}

async function tee(task: Task, args: readonly string[]): Promise<number> {
  const { flags, rest } = readOptions(args, 'ai');
  const sinks = rest.map((name) => openSink(task, task.path(name), { append: flags.has('a') }));
  const { stdin } = task.streams;
  for (let chunk = await task.read(stdin); chunk; chunk = await task.read(stdin)) {
    for (const sink of [task.streams.stdout, ...sinks]) await task.write(chunk, sink);
  }
  return 0;
}

async function checksum(task: Task, args: readonly string[], algorithm: string): Promise<number> {
  const { flags, rest } = readOptions(args, 'cbsw');
  const sum = async (source: Parameters<Task['read']>[0]): Promise<string> => {
    const hash = createHash(algorithm);
    for (let chunk = await task.read(source); chunk; chunk = await task.read(source)) hash.update(chunk);
    return hash.digest('hex');
  };
  if (!flags.has('c'))
    return forEachInput(task, rest, async (source, name) => task.write(`${await sum(source)}  ${name}\n`));
  let code = 0;
  await forEachInput(task, rest, async (source) => {
    for await (const { text } of readLines(task, source)) {
      const [expected, name = ''] = text.split(/ [ *]/, 2);
      const same = (await sum(openSource(task, task.path(name)))) === expected;
      if (!same) code = 1;
      await task.write(`${name}: ${same ? 'OK' : 'FAILED'}\n`);
    }
  });
  return code;
}

async function xargs(task: Task, args: readonly string[]): Promise<number> {
  const start = args.findIndex((arg, index) => !arg.startsWith('-') && !/^-[nIPL]$/.test(args[index - 1] ?? ''));
  const { flags, values } = readOptions(start < 0 ? args : args.slice(0, start), 'n:I:P:L:0rt');
  const command = start < 0 ? ['echo'] : args.slice(start);
  const text = (await readAll(task, task.streams.stdin)).toString();
  const replaced = values.get('I');
  const items = flags.has('0') ? text.split('\0') : replaced === undefined ? text.split(/\s+/) : text.split('\n');
  const given = items.filter((item) => item !== '');
  const size = replaced === undefined ? Number(values.get('n') ?? Math.max(1, given.length)) : 1;
  let code = 0;
  for (let at = 0; at < Math.max(given.length, flags.has('r') || replaced !== undefined ? 0 : 1); at += size) {
    const part = given.slice(at, at + size);
    const argv =
      replaced === undefined ? [...command, ...part] : command.map((word) => word.replaceAll(replaced, part[0] ?? ''));
    const found = findProgram(task, argv);
    if (!('program' in found)) throw new FileError(argv[0] ?? '', 'No such file or directory');
    if ((await task.spawn(found.argv).run(found.program)) !== 0) code = 123;
  }
  return code;
}
