import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * A project of somebody who has never seen the repository: an empty folder with a manifest, packages from `registry`, and an
 * environment without any of the repository's or npm's own settings.
 */
export class UserProject {
  readonly dir: string;
  readonly environment: Record<string, string>;

  private constructor(dir: string, environment: Record<string, string>) {
    this.dir = dir;
    this.environment = environment;
  }

  static async create(dir: string, registry: string): Promise<UserProject> {
    const home = join(dir, 'home');
    await mkdir(home, { recursive: true });
    await writeFile(join(dir, 'package.json'), '{ "name": "users", "private": true, "type": "module" }\n');
    await writeFile(join(home, '.npmrc'), `registry=${registry}\naudit=false\nfund=false\nupdate-notifier=false\n`);
    return new UserProject(dir, {
      HOME: home,
      // This very Node comes first, and npm from wherever it is.
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      npm_config_globalconfig: join(home, 'no-global-npmrc'),
      npm_config_cache: join(dirname(dir), 'npm-cache'),
    });
  }

  /** Writes a file of the project. */
  async write(path: string, text: string): Promise<void> {
    await writeFile(join(this.dir, path), text);
  }

  /** Runs a command in the project to its end. */
  async run(command: string, args: readonly string[], environment: Record<string, string> = {}): Promise<Outcome> {
    const options = { cwd: this.dir, env: { ...this.environment, ...environment }, timeout: 110_000 };
    return await new Promise((resolve) => {
      execFile(command, args, options, (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr });
      });
    });
  }

  /** As `run`; rejects with what was printed where it fails. */
  async succeed(command: string, args: readonly string[], environment: Record<string, string> = {}): Promise<Outcome> {
    const outcome = await this.run(command, args, environment);
    if (outcome.code === 0) return outcome;
    throw new Error(`${command} ${args.join(' ')} ended with ${outcome.code}:\n${outcome.stdout}${outcome.stderr}`);
  }

  /** Starts a command in a process group of its own, as a terminal does. */
  start(command: string, args: readonly string[]): RunningCommand {
    return new RunningCommand(
      spawn(command, args, { cwd: this.dir, env: this.environment, stdio: ['ignore', 'pipe', 'pipe'], detached: true }),
    );
  }

  async install(...packages: string[]): Promise<void> {
    await this.succeed('npm', ['install', '--ignore-scripts', ...packages]);
  }
}

/** A command that goes on until it is stopped; killed with all its children at the latest when it is disposed of. */
export class RunningCommand implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  stdout = '';
  stderr = '';

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#closed = once(child, 'close');
    child.stdout?.on('data', (text) => (this.stdout += String(text)));
    child.stderr?.on('data', (text) => (this.stderr += String(text)));
  }

  /** Resolves when stdout matches; rejects with what was printed when the command ends before. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.stdout);
      if (found) return found;
      if (this.#ended) throw new Error(`it ended without printing ${pattern}:\n${this.stdout}${this.stderr}`);
      await Promise.race([once(this.#child.stdout ?? this.#child, 'data'), once(this.#child, 'exit')]);
    }
  }

  /** The exit code, as soon as the command and every process that it has left behind are gone. */
  async exit(): Promise<number | null> {
    await this.#closed;
    return this.#child.exitCode;
  }

  /** Signals all of its processes, as Ctrl-C in a terminal does. */
  signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid !== undefined && !this.#ended) process.kill(-pid, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal('SIGKILL');
    await this.exit();
  }

  get #ended(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}
