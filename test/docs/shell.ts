import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Readable } from 'node:stream';

/** What became of a command. `exitCode` is undefined where the shell itself ended with it. */
export interface Outcome {
  exitCode: number | undefined;
  output: string;
}

/**
 * A network and processes of a document's own, where the system lets us: the ports that it names are free, nothing reaches
 * outside, and nothing is left behind. Undefined elsewhere: there the document runs like any program.
 */
export function isolation(): string[] | undefined {
  const apart = ['-n', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const works = (flags: string[]): boolean =>
    spawnSync('unshare', [...flags, 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' }).status === 0;
  const flags = [apart, ['-r', ...apart]].find(works);
  return flags && ['unshare', ...flags];
}

/**
 * One bash, as a reader has it open: what one command sets (folder, variables, functions, background jobs) the next one finds. With
 * its end everything ends that was started in it.
 */
export class Shell implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #outcomes: Interface;
  readonly #scratch: string;
  readonly #exit: Promise<unknown>;
  #count = 0;

  private constructor(child: ChildProcess, scratch: string) {
    this.#process = child;
    this.#scratch = scratch;
    this.#outcomes = createInterface({ input: child.stdio[3] as Readable });
    this.#exit = once(child, 'exit');
    // A shell that ended reads no further commands; `run` says so.
    child.stdin?.on('error', () => undefined);
  }

  static async open(options: {
    cwd: string;
    environment: Record<string, string>;
    isolation: string[] | undefined;
    prelude: string;
  }): Promise<Shell> {
    const scratch = await mkdtemp(join(tmpdir(), 'asterism-docs-shell-'));
    const start = `${options.isolation === undefined ? '' : 'ip link set lo up; '}exec bash --noprofile --norc`;
    const words = [...(options.isolation ?? []), 'bash', '-c', start];
    const child = spawn(words[0] ?? '', words.slice(1), {
      cwd: options.cwd,
      env: options.environment,
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    });
    const shell = new Shell(child, scratch);
    // A block of several commands ends the shell where one fails; the code comes out all the same.
    // Job control gives every background command a process group of its own, to which Ctrl-C can be sent.
    const prelude = `trap 'echo $? >&3' EXIT\nset -m\n${options.prelude}`;
    const { exitCode, output } = await shell.run(prelude, { patienceMs: 10_000 });
    if (exitCode !== 0) throw new Error(`the shell does not start (${exitCode}): ${output}`);
    return shell;
  }

  /** Runs to the end; the first command that fails ends a block of several. */
  async run(command: string, { patienceMs }: { patienceMs: number }): Promise<Outcome> {
    const { script, log } = await this.#script(command);
    const errexit = command.trim().includes('\n') ? 'set -e; ' : '';
    return await this.#send(`{ ${errexit}. ${script}; } >${log} 2>&1 </dev/null`, log, patienceMs);
  }

  /** Starts and leaves it running; resolves when `ready` is found in what it prints, or with its end. */
  async start(command: string, { ready, patienceMs }: { ready: RegExp; patienceMs: number }): Promise<Outcome> {
    const { script, log } = await this.#script(command);
    await this.#send(`{ . ${script}; } >${log} 2>&1 </dev/null &`, log, 5_000);
    const end = Date.now() + patienceMs;
    for (;;) {
      const printed = await readFile(log, 'utf8');
      if (ready.test(printed)) return { exitCode: 0, output: printed };
      const { exitCode } = await this.#send('jobs %% | grep -q Running', log, 5_000);
      if (exitCode !== 0 || Date.now() > end)
        return { exitCode: exitCode === 0 ? undefined : exitCode, output: printed };
      await new Promise((resolve) => {
        setTimeout(resolve, 100);
      });
    }
  }

  /** Ctrl-C to what was started last; resolves with its end. */
  async interrupt(patienceMs: number): Promise<Outcome> {
    const log = join(this.#scratch, 'interrupt.log');
    await writeFile(log, '');
    return await this.#send(`kill -INT %% && wait %% >>${log} 2>&1`, log, patienceMs);
  }

  async #script(command: string): Promise<{ script: string; log: string }> {
    this.#count += 1;
    const [script, log] = [join(this.#scratch, `${this.#count}.sh`), join(this.#scratch, `${this.#count}.log`)];
    await Promise.all([writeFile(script, command), writeFile(log, '')]);
    return { script, log };
  }

  async #send(call: string, log: string, patienceMs: number): Promise<Outcome> {
    const patience = AbortSignal.timeout(patienceMs);
    const read = async (): Promise<string> => await readFile(log, 'utf8');
    const answer = once(this.#outcomes, 'line', { signal: patience });
    this.#process.stdin?.write(`${call}\n{ echo $?; set +e; } >&3 2>/dev/null\n`);
    try {
      const [code] = (await answer) as [string];
      return { exitCode: Number(code), output: await read() };
    } catch {
      return { exitCode: undefined, output: `${await read()}\n(no end after ${patienceMs / 1000} s)` };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.stdin?.end('for job in $(jobs -p); do kill -TERM -- -$job; done; wait\nexit\n');
    const kill = setTimeout(() => this.#process.kill('SIGKILL'), 10_000);
    await this.#exit;
    clearTimeout(kill);
    this.#outcomes.close();
    await rm(this.#scratch, { recursive: true, force: true });
  }
}
