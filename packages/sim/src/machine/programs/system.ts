import { findProgram } from '../find-program.ts';
import { type Program, signalNamed, type Task, UsageError } from '../task.ts';

const LONGEST_TIMER = 2 ** 31 - 1;
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Programs about the container, its environment, its processes and its terminal. */
export const SYSTEM_PROGRAMS: Readonly<Record<string, Program>> = {
  true: () => 0,
  false: () => 1,
  pwd: (task) => print(task, task.directory),
  whoami: (task) => print(task, 'root'),
  id: (task, [option]) => print(task, option === '-u' ? '0' : 'uid=0(root) gid=0(root) groups=0(root)'),
  hostname: (task) => print(task, task.machine.hostname),
  uname: (task, [option]) =>
    print(task, option === '-a' ? `Linux ${task.machine.hostname} 6.1.0-asterism #1 SMP x86_64 Linux` : 'Linux'),
  date: (task, args) => {
    const format = args.find((arg) => arg.startsWith('+'))?.slice(1) ?? '%a %b %e %H:%M:%S UTC %Y';
    return print(task, formatDate(format, task.machine.clock.wall()));
  },
  sleep: async (task, args) => {
    let ms = 0;
    for (const arg of args) {
      const [, digits, unit = 's'] = /^(\d+(?:\.\d*)?|\.\d+|infinity)([smhd]?)$/.exec(arg) ?? [];
      if (digits === undefined) throw new UsageError(`invalid number '${arg}'`);
      ms += 1000 * Number(digits.replace('i', 'I')) * (SECONDS[unit] ?? 1);
    }
    for (let left = ms; left > 0; left -= LONGEST_TIMER) await task.sleep(Math.min(left, LONGEST_TIMER));
    return 0;
  },
  env,
  printenv: async (task, [name]) => {
    if (name === undefined) return env(task, []);
    const value = task.environment.get(name);
    return value === undefined ? 1 : print(task, value);
  },
  ps: (task) => {
    const lines = Array.from(
      task.machine.processes.values(),
      ({ pid, argv }) => `${String(pid).padStart(5)} root     ${argv.join(' ')}`,
    );
    return print(task, ['  PID USER     COMMAND', ...lines].join('\n'));
  },
  kill: async (task, args) => {
    const [option = ''] = args;
    const name = option === '-s' ? args[1] : /^-(?=.)/.test(option) ? option.slice(1) : 'TERM';
    const signal = signalNamed(name ?? '');
    if (!signal && name !== '0') throw new UsageError(`bad signal name '${name}'`);
    let code = 0;
    for (const pid of args.slice(option === '-s' ? 2 : option.startsWith('-') ? 1 : 0)) {
      const process = task.machine.processes.get(Number(pid));
      if (process && signal) process.kill(signal);
      if (process) continue;
      await task.complain(`can't kill pid ${pid}: No such process`);
      code = 1;
    }
    return code;
  },
  stty: (task, [option]) => {
    const { terminal } = task.streams.stdin;
    if (!terminal) throw new UsageError('standard input: Not a tty');
    if (option === 'size') return print(task, `${terminal.size.rows} ${terminal.size.columns}`);
    if (option === 'echo' || option === '-echo') terminal.echo = option === 'echo';
    return 0;
  },
  clear: (task) => print(task, '\x1b[H\x1b[J', ''),
};

async function print(task: Task, text: string, end = '\n'): Promise<number> {
  await task.write(text + end);
  return 0;
}

async function env(task: Task, args: readonly string[]): Promise<number> {
  const environment = new Map(args[0] === '-i' ? [] : task.environment);
  const rest = args.slice(args[0] === '-i' ? 1 : 0);
  for (let match = /^([^=]+)=(.*)$/s.exec(rest[0] ?? ''); match; match = /^([^=]+)=(.*)$/s.exec(rest[0] ?? '')) {
    environment.set(match[1] ?? '', match[2] ?? '');
    rest.shift();
  }
  if (rest.length === 0) return print(task, [...environment].map(([name, value]) => `${name}=${value}\n`).join(''), '');
  const found = findProgram(task, rest);
  if ('program' in found) return task.spawn(found.argv, { environment }).run(found.program);
  throw new UsageError(`can't execute '${rest[0]}': ${found.message}`, found.code);
}

/** A time in UTC in a format of `strftime`. */
function formatDate(format: string, time: Date): string {
  const [weekday = '', day = '', month = '', year = '', clock = ''] = time.toUTCString().replace(',', '').split(' ');
  const iso = time.toISOString();
  const [hours, minutes, seconds] = clock.split(':');
  const fields: Record<string, string | undefined> = {
    a: weekday,
    b: month,
    d: day,
    e: day.replace(/^0/, ' '),
    F: iso.slice(0, 10),
    H: hours,
    m: iso.slice(5, 7),
    M: minutes,
    N: `${iso.slice(20, 23)}000000`,
    s: String(Math.floor(time.getTime() / 1000)),
    S: seconds,
    T: clock,
    Y: year,
    Z: 'UTC',
    '%': '%',
  };
  return format.replaceAll(/%(.)/g, (found, letter: string) => fields[letter] ?? found);
}
