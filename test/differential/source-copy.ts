import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:https';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Target } from '../conformance/send-request.ts';
import type { ComparedServer } from './real-server.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const COPIED = ['packages', 'test/conformance', 'test/differential'];
const SERVE_OWN = 'test/differential/serve-own.ts';
const NOT_COPIED = new Set(['node_modules', 'dist']);

/** An exact piece of a source file, and what stands there instead. */
export interface Replacement {
  /** From the root of the repository. */
  file: string;
  /** Must be there once. */
  find: string;
  replace: string;
}

/** The sources in a temporary folder, where they can be changed and run. */
export class SourceCopy implements AsyncDisposable {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async make(): Promise<SourceCopy> {
    const folder = await mkdtemp(join(tmpdir(), 'asterism-mutations-'));
    for (const name of COPIED) {
      const filter = (path: string): boolean => !NOT_COPIED.has(basename(path));
      await cp(join(ROOT, name), join(folder, name), { recursive: true, filter });
    }
    await linkModules(folder);
    return new SourceCopy(folder);
  }

  /**
   * Runs `use` with a server of the changed sources, and puts them back. Rejects where a piece is not there exactly once: then
   * the source has changed, and the mutation has to follow it.
   */
  async mutated(
    replacements: readonly Replacement[],
    use: (server: ComparedServer) => Promise<void>,
    script: string = SERVE_OWN,
  ): Promise<void> {
    const originals = new Map<string, string>();
    try {
      for (const { file, find, replace } of replacements) {
        const path = join(this.#folder, file);
        const text = await readFile(path, 'utf8');
        const times = text.split(find).length - 1;
        if (times !== 1) throw new Error(`${file} has ${times} times, not once: ${find}`);
        if (!originals.has(path)) originals.set(path, text);
        await writeFile(
          path,
          text.replace(find, () => replace),
        );
      }
      await using server = await this.#start(script);
      await use(server);
    } finally {
      for (const [path, text] of originals) await writeFile(path, text);
    }
  }

  async #start(file: string): Promise<ComparedServer> {
    const script = join(this.#folder, file);
    const flags = ['--conditions=asterism-source', '--disable-warning=ExperimentalWarning'];
    const child = spawn(process.execPath, [...flags, script], { stdio: ['pipe', 'pipe', 'inherit'] });
    const { host, port, ca } = await firstLine(child);
    const agent = new Agent({ keepAlive: true });
    return {
      target: { host, port, ca, agent },
      async [Symbol.asyncDispose]() {
        agent.destroy();
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function firstLine(child: ChildProcess): Promise<Omit<Target, 'agent'>> {
  if (!child.stdout) throw new Error('the server has no stdout');
  for await (const line of createInterface(child.stdout)) return JSON.parse(line) as Omit<Target, 'agent'>;
  throw new Error('the mutated server ended before it listened');
}

/** The packages of the copy under their names, and everything else as it is installed. */
async function linkModules(folder: string): Promise<void> {
  const modules = join(folder, 'node_modules');
  await mkdir(join(modules, '@asterism'), { recursive: true });
  for (const name of await readdir(join(ROOT, 'node_modules'))) {
    if (name !== '@asterism') await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  }
  for (const name of await readdir(join(folder, 'packages'))) {
    await symlink(join(folder, 'packages', name), join(modules, '@asterism', name));
  }
}
