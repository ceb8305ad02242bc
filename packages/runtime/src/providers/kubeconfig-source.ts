import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ClientError, type Kubeconfig, kubeconfigPaths, loadKubeconfig } from '@asterism/client';
import type { ClusterRoster } from './cluster-roster.ts';
import { filesOf, readConnection } from './read-connection.ts';

export interface KubeconfigSourceOptions {
  roster: ClusterRoster;
  /** A file; without it those of `$KUBECONFIG`, merged, or `~/.kube/config`. */
  path: string | undefined;
  /** Which contexts are clusters: the current one, all, or those named. */
  contexts: 'current' | 'all' | readonly string[];
  clusterName: (context: string) => string;
}

/** What was read, and from what. */
interface Reading {
  files: readonly string[];
  states: readonly string[];
  folders: ReadonlySet<string>;
}

/** The clusters of one kubeconfig, which is read whenever it may have changed. */
export class KubeconfigSource {
  readonly #options: KubeconfigSourceOptions;
  readonly #paths: readonly string[];
  /** What messages call it. */
  readonly #label: string;
  #offered = new Set<string>();
  #last: Reading | undefined;

  constructor(options: KubeconfigSourceOptions) {
    this.#options = options;
    this.#paths = kubeconfigPaths(options.path);
    this.#label = this.#paths.join(', ');
  }

  /**
   * Offers what it says now, instead of what it said before. Resolves with the folders in which a change to it, or to a file
   * that it names, shows. Rejects as `loadKubeconfig` does, and has changed nothing then.
   */
  async read(): Promise<ReadonlySet<string>> {
    const last = this.#last;
    if (last && isDeepStrictEqual(await statesOf(last.files), last.states)) return last.folders;
    this.#last = undefined;
    await this.#options.roster.turn();
    // The state is that of before the reading: what changes meanwhile is read next time.
    const states = await statesOf(this.#paths);
    const kubeconfig = await loadKubeconfig(this.#options.path);
    const wanted = this.#wanted(kubeconfig);
    const named = wanted.flatMap((context) => [...filesOf(kubeconfig, context).values()]);
    states.push(...(await statesOf(named)));
    const areUsable = await this.#offerAll(kubeconfig, wanted);
    const files = [...this.#paths, ...named];
    const folders = await foldersOf(files);
    if (areUsable) this.#last = { files, states, folders };
    return folders;
  }

  /** Where a change to it shows, though it could not be read. */
  folders(): Promise<ReadonlySet<string>> {
    return foldersOf(this.#paths);
  }

  /** It cannot be read: what it said last holds on. */
  fail(error: unknown): void {
    this.#options.roster.fail(this.#label, error);
  }

  /** It should be there and is not. */
  lose(error: unknown): void {
    for (const source of this.#offered) if (source !== this.#label) this.#options.roster.withdraw(source);
    this.#offered.clear();
    this.#options.roster.lose(this.#label, error);
  }

  /** There is no such kubeconfig any more. */
  end(): void {
    for (const source of [this.#label, ...this.#offered]) this.#options.roster.withdraw(source);
    this.#offered.clear();
  }

  /** Resolves with whether all of them make sense. */
  async #offerAll(kubeconfig: Kubeconfig, wanted: readonly (string | undefined)[]): Promise<boolean> {
    const before = this.#offered;
    this.#offered = new Set(wanted.map((context) => this.#sourceOf(context)));
    // It can be read: what was wrong with it as a whole is over.
    for (const source of [this.#label, ...before]) {
      if (!this.#offered.has(source)) this.#options.roster.withdraw(source);
    }
    const usable = await Promise.all(wanted.map((context) => this.#offer(kubeconfig, context)));
    return !usable.includes(false);
  }

  async #offer(kubeconfig: Kubeconfig, context: string | undefined): Promise<boolean> {
    const { roster, contexts, clusterName } = this.#options;
    const source = this.#sourceOf(context);
    const there = kubeconfig.contexts.some(({ name }) => name === context);
    // A context that was taken out was a cluster, though the list of contexts still asks for it.
    if (contexts !== 'current' && !there) {
      roster.lose(source, new ClientError('there is no such context', { code: 'ERR_KUBECONFIG' }));
      return true; // Only a change to the file helps.
    }
    return await roster.update(source, async () => ({
      connection: await readConnection(kubeconfig, { context, trusted: true }),
      name: clusterName(context ?? kubeconfig['current-context'] ?? ''),
    }));
  }

  /** By name; undefined is the current one, whichever that is. */
  #wanted(kubeconfig: Kubeconfig): (string | undefined)[] {
    const { contexts } = this.#options;
    if (contexts === 'current') return [undefined];
    return contexts === 'all' ? kubeconfig.contexts.map(({ name }) => name) : [...contexts];
  }

  #sourceOf(context: string | undefined): string {
    return context === undefined ? this.#label : `context "${context}" of ${this.#label}`;
  }
}

/** Where a change to one of these files shows: beside it, and beside what it is a link to. */
export async function foldersOf(files: readonly string[]): Promise<ReadonlySet<string>> {
  const real = await Promise.all(files.map((file) => realpath(file).catch(() => file)));
  return new Set([...files, ...real].map((file) => dirname(file)));
}

/** Of each file something that differs when it has changed. */
function statesOf(files: readonly string[]): Promise<string[]> {
  return Promise.all(
    files.map((file) =>
      stat(file, { bigint: true }).then(
        ({ ino, size, mtimeNs, ctimeNs }) => `${ino}:${size}:${mtimeNs}:${ctimeNs}`,
        () => 'none',
      ),
    ),
  );
}
