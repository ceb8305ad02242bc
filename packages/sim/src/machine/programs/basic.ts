import { SIGNAL_NUMBERS, type Program, type SignalName, type Task, UsageError } from '../task.ts';
import { findProgram } from '../find-program.ts';
import { formatDate } from './format-date.ts';
import { readOptions } from './options.ts';

/** What tells about the container and its processes, and runs others. */
export const BASIC_PROGRAMS: Readonly<Record<string, Program>> = {
  true: () => 0,
  false: () => 1,
  pwd: (task) => say(task, `${task.directory}\n`),
  whoami: (task) => say(task, 'root\n'),
  id: async (task, [option]) =>
    say(
      task,
      option === '-u' || option === '-g'
        ? '0\n'
        : option?.includes('n')
          ? 'root\n'
          : 'uid=0(root) gid=0(root) groups=0(root)\n',
    ),
  hostname: async (task, args) => {
    const short = args.includes('-s');
    return say(task, `${short ? task.machine.hostname.split('.')[0] : task.machine.hostname}\n`);
  },
  uname,
  date,
  sleep,
  env: environment,
  printenv,
  ps,
  kill,
  nproc: (task) => say(task, '1\n'),
  stty,
  tty: (task) => (task.streams.stdin.terminal ? say(task, '/dev/pts/0\n') : say(task, 'not a tty\n', 1)),
  sync: () => 0,
  clear: (task) => say(task, '\x1b[H\x1b[J'),
  which,
  time: async (task, args) => runOther(task, args, task.environment),
  nohup: async (task, args) => runOther(task, args, task.environment),
  timeout,
};

async function say(task: Task, text: string, code = 0): Promise<number> {
  await task.write(text);
  return code;
}

async function uname(task: Task, args: readonly string[]): Promise<number> {
  const { flags } = readOptions(args, 'asnrvmpio');
  const fields: [string, string][] = [
    ['s', 'Linux'],
    ['n', task.machine.hostname],
    ['r', '6.1.0-asterism'],
    ['v', '#1 SMP'],
    ['m', 'x86_64'],
    ['o', 'GNU/Linux'],
  ];
  const wanted = fields.filter(
    ([letter]) => flags.has('a') || flags.has(letter) || (flags.size === 0 && letter === 's'),
  );
  return say(task, `${wanted.map(([, text]) => text).join(' ')}\n`);
}

async function date(task: Task, args: readonly string[]): Promise<number> {
  const { values, flags, rest } = readOptions(args, 'ud:I::r:', { date: 'd', utc: 'u' });
  const given = values.get('d');
  const at =
    given === undefined
      ? task.machine.clock.wall().getTime()
      : given.startsWith('@')
        ? Number(given.slice(1)) * 1000
        : Date.parse(given);
  if (Number.isNaN(at)) throw new UsageError(`invalid date '${given}'`);
  const format =
    rest.find((each) => each.startsWith('+'))?.slice(1) ?? (flags.has('I') ? '%Y-%m-%d' : '%a %b %e %H:%M:%S UTC %Y');
  return say(task, `${formatDate(format, at)}\n`);
}

async function sleep(task: Task, args: readonly string[]): Promise<number> {
  if (args.length === 0) throw new UsageError('missing operand');
  const factors: Record<string, number> = { '': 1, s: 1, m: 60, h: 3600, d: 86400 };
  let seconds = 0;
  for (const each of args) {
    const match = /^(\d+(?:\.\d*)?|\.\d+|inf(?:inity)?)([smhd]?)$/.exec(each);
    if (!match) throw new UsageError(`invalid number '${each}'`);
    seconds += (match[1]?.startsWith('inf') ? Infinity : Number(match[1])) * (factors[match[2] ?? ''] ?? 1);
  }
  const longest = 2 ** 31 - 1;
  for (let left = seconds * 1000; left > 0; left -= longest) await task.sleep(Math.min(left, longest));
  return 0;
}

async function environment(task: Task, args: readonly string[]): Promise<number> {
  const variables = new Map(task.environment);
  const rest = [...args];
  while (rest[0]?.startsWith('-')) {
    const option = rest.shift();
    if (option === '-i' || option === '-') variables.clear();
    else if (option === '-u') variables.delete(rest.shift() ?? '');
    else throw new UsageError(`unrecognized option: ${option?.slice(1)}`);
  }
  for (let each = rest[0]; each !== undefined && /^[^=]+=/.test(each); each = rest[0]) {
    rest.shift();
    const equals = each.indexOf('=');
    variables.set(each.slice(0, equals), each.slice(equals + 1));
  }
  if (rest.length > 0) return runOther(task, rest, variables);
  return say(task, [...variables].map(([name, value]) => `${name}=${value}\n`).join(''));
}

/** Runs another program in place of this one. */
async function runOther(task: Task, argv: readonly string[], variables: ReadonlyMap<string, string>): Promise<number> {
  const found = findProgram(task, argv);
  if ('program' in found) return task.spawn(found.argv, { environment: variables }).run(found.program);
  await task.complain(
    `can't execute '${argv[0]}': ${found.code === 127 ? 'No such file or directory' : found.message}`,
  );
  return found.code;
}

async function timeout(task: Task, args: readonly string[]): Promise<number> {
  const named = args[0] === '-s' ? (args[1] ?? 'TERM') : 'TERM';
  const [limit, ...argv] = args[0] === '-s' ? args.slice(2) : args;
  const found = findProgram(task, argv);
  if (!('program' in found)) return runOther(task, argv, task.environment);
  let late = false;
  const child = task.spawn(found.argv);
  const cancel = task.machine.clock.setTimer(
    () => {
      late = true;
      child.kill(signalNamed(named));
    },
    Number(limit) * 1000,
    { background: true },
  );
  const code = await child.run(found.program);
  cancel();
  return late ? 143 : code;
}

async function printenv(task: Task, names: readonly string[]): Promise<number> {
  if (names.length === 0) return environment(task, []);
  let code = 0;
  for (const name of names) {
    const value = task.environment.get(name);
    if (value === undefined) code = 1;
    else await task.write(`${value}\n`);
  }
  return code;
}

async function ps(task: Task): Promise<number> {
  const { machine } = task;
  const lines = machine.processes().map(({ pid, started, argv }) => {
    const seconds = Math.floor((machine.clock.wall().getTime() - started) / 1000);
    const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    return `${String(pid).padStart(5)} root     ${time.padStart(5)} ${argv.join(' ')}\n`;
  });
  return say(task, `PID   USER     TIME  COMMAND\n${lines.join('')}`);
}

async function kill(task: Task, args: readonly string[]): Promise<number> {
  const [first = ''] = args;
  if (first === '-l') return say(task, `${Object.keys(SIGNAL_NUMBERS).join(' ')}\n`);
  const named = first === '-s' ? args[1] : first.startsWith('-') ? first.slice(1) : undefined;
  const signal = signalNamed(named ?? 'TERM', first === '-0');
  const pids = args.slice(named === undefined ? 0 : first === '-s' ? 2 : 1);
  let code = 0;
  for (const each of pids) {
    if (task.machine.signal(Number(each), first === '-0' ? undefined : signal)) continue;
    await task.complain(`can't kill pid ${each}: No such process`);
    code = 1;
  }
  return code;
}

function signalNamed(name: string, any = false): SignalName {
  const plain = name.toUpperCase().replace(/^SIG/, '');
  const found = Object.entries(SIGNAL_NUMBERS).find(([each, number]) => each === plain || number === Number(name));
  if (!found && !any) throw new UsageError(`bad signal name '${name}'`);
  return (found?.[0] ?? 'TERM') as SignalName;
}

async function stty(task: Task, args: readonly string[]): Promise<number> {
  const { terminal } = task.streams.stdin;
  if (!terminal) throw new UsageError('standard input: Not a tty');
  const { rows, columns } = terminal.size;
  for (const each of args) {
    if (each === 'size') await task.write(`${rows} ${columns}\n`);
    else if (each === 'echo' || each === '-echo') terminal.echo = each === 'echo';
    else if (each === 'raw' || each === 'sane' || each === '-raw' || each === 'cooked') terminal.raw = each === 'raw';
    else if (each === '-a') await task.write(`speed 38400 baud; rows ${rows}; columns ${columns};\n`);
    if (each === 'sane') terminal.echo = true;
  }
  return args.length > 0 ? 0 : say(task, 'speed 38400 baud; line = 0;\n');
}

async function which(task: Task, names: readonly string[]): Promise<number> {
  let code = 0;
  for (const name of names) {
    if (task.machine.programs.has(name)) await task.write(`/bin/${name}\n`);
    else code = 1;
  }
  return code;
}
