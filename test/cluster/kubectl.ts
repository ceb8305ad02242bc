import { type ChildProcess, spawn } from 'node:child_process';
import { type Output, outputOf } from './output-of.ts';

export type { Output } from './output-of.ts';

/** The real kubectl on one kubeconfig. */
export class Kubectl {
  readonly #binary: string;
  readonly #kubeconfig: string;
  readonly #home: string;

  constructor(binary: string, kubeconfig: string, home: string) {
    this.#binary = binary;
    this.#kubeconfig = kubeconfig;
    this.#home = home;
  }

  /** For whoever starts it in another place than this process is in. */
  commandLine(args: readonly string[]): string[] {
    return [this.#binary, '--kubeconfig', this.#kubeconfig, '--cache-dir', `${this.#home}/cache`, ...args];
  }

  spawn(args: readonly string[], environment: Record<string, string> = {}): ChildProcess {
    return spawn(this.#binary, ['--kubeconfig', this.#kubeconfig, ...args], {
      // Its discovery cache lives below the test's own folder.
      env: { ...process.env, HOME: this.#home, KUBECTL_KUBERC: 'false', ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  }

  /** Runs to the end, whatever that is. */
  async try(
    args: readonly string[],
    options: { stdin?: string; environment?: Record<string, string> } = {},
  ): Promise<Output> {
    return await outputOf(this.spawn(args, options.environment), options.stdin);
  }

  /** Runs, and fails the test where kubectl fails. Resolves with what it printed. */
  async run(
    args: readonly string[],
    options: { stdin?: string; environment?: Record<string, string> } = {},
  ): Promise<string> {
    const { code, stdout, stderr } = await this.try(args, options);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
    return stdout;
  }
}

/** The rows of a table that kubectl printed, by column name. */
export function rowsOf(table: string): Record<string, string>[] {
  const [header = '', ...lines] = table.trimEnd().split('\n');
  const columns = [...header.matchAll(/\S+(?: \S+)*\s*/g)].map((match) => ({
    name: match[0].trim(),
    from: match.index,
    to: match.index + match[0].length,
  }));
  return lines.map((line) =>
    Object.fromEntries(
      columns.map(({ name, from, to }, index) => [
        name,
        line.slice(from, index === columns.length - 1 ? undefined : to).trim(),
      ]),
    ),
  );
}
