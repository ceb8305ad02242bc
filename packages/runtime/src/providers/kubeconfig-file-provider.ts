import { readdir, stat } from 'node:fs/promises';
import { basename, extname, join, resolve } from 'node:path';
import { ClientError } from '@asterism/client';
import type { ClusterProvider } from '../cluster/cluster.ts';
import { ClusterRoster } from './cluster-roster.ts';
import { followFiles } from './follow-files.ts';
import { foldersOf, KubeconfigSource } from './kubeconfig-source.ts';
import type { ProviderOptions } from './provider-options.ts';

/**
 * Which files and contexts are clusters, and what they are called.
 *
 * @example {@link createKubeconfigFileProvider}
 */
export interface KubeconfigFileProviderOptions extends ProviderOptions {
  /** Files, and folders whose every file is a kubeconfig. Folders within folders are not looked into. */
  paths: readonly string[];
  /** Which contexts of each file are clusters. Default `current`: one file, one cluster. */
  contexts?: 'current' | 'all' | readonly string[] | undefined;
  /**
   * By default the file's name up to its extension (`/etc/fleet/paris.kubeconfig` is `paris`), followed by `/` and the context
   * unless `contexts` is `current`.
   */
  clusterName?: ((from: { path: string; context: string }) => string) | undefined;
  /** Which files of a folder are kubeconfigs. By default all that are not hidden, locks or an editor's copies. */
  isKubeconfig?: ((fileName: string) => boolean) | undefined;
  /** How often the files are read though no change was told (some file systems tell of none), in ms. Default 30 s. */
  rereadMs?: number | undefined;
}

/** How often files are read where no change is told. */
const REREAD_MS = 30_000;
const EXTENSION = /^\.(ya?ml|json|conf|config|kubeconfig)$/;
/** Hidden files (a volume's own folders, editors' swap files), kubectl's locks, editors' copies. */
const NO_KUBECONFIG = /^\.|\.(lock|bak|tmp|swp|orig)$|~$/;

/**
 * Kubeconfig files as clusters, such as a folder into which a Secret is mounted, or where a pipeline puts a file for each
 * cluster. Followed as files come, change and go; new credentials replace the old ones and drop no store.
 *
 * A file that makes no sense, or cannot be read for now, is reported (`logger.warn`) and changes nothing; one that is gone takes
 * its clusters along. It never fails, whatever the files say.
 *
 * @example
 * ```ts
 * const provider = createKubeconfigFileProvider({ paths: ['/etc/fleet'], logger });
 * ```
 */
export function createKubeconfigFileProvider(options: KubeconfigFileProviderOptions): ClusterProvider {
  const name = options.name ?? 'kubeconfig files';
  return {
    name,
    async run(engage, signal) {
      const roster = new ClusterRoster({ ...options, name }, engage, signal);
      const { clock, logger } = roster;
      const { rereadMs = REREAD_MS } = options;
      const paths = new Set(options.paths.map((path) => resolve(path)));
      // Apart: a disk that hangs holds up its own files alone.
      const following = [...paths].map((path) => {
        const followed = new FollowedPath(path, roster, options);
        return followFiles({ scan: () => followed.scan(), rereadMs, clock, logger, signal });
      });
      await Promise.all(following);
    },
  };
}

/** A file, or a folder of them. */
class FollowedPath {
  readonly #path: string;
  readonly #roster: ClusterRoster;
  readonly #options: KubeconfigFileProviderOptions;
  readonly #files = new Map<string, KubeconfigSource>();

  constructor(path: string, roster: ClusterRoster, options: KubeconfigFileProviderOptions) {
    this.#path = path;
    this.#roster = roster;
    this.#options = options;
  }

  /** Resolves with the folders in which a change matters. */
  async scan(): Promise<ReadonlySet<string>> {
    const beside = await foldersOf([this.#path]);
    const label = `path ${this.#path}`;
    let isFolder: boolean;
    let files: string[];
    try {
      isFolder = (await stat(this.#path)).isDirectory();
      files = isFolder ? await this.#kubeconfigsIn(this.#path) : [this.#path];
    } catch (error) {
      if (isMissing(error)) {
        this.#endAllBut([]);
        this.#roster.fail(label, new ClientError('there is no such file or folder', { code: 'ENOENT', cause: error }));
      } else this.#roster.fail(label, error);
      return beside;
    }
    this.#roster.withdraw(label); // What was wrong with it is over.
    this.#endAllBut(files);
    const ofFiles = await Promise.all(files.map((file) => this.#read(file)));
    return ofFiles.reduce((all, more) => all.union(more), isFolder ? beside.union(new Set([this.#path])) : beside);
  }

  async #read(file: string): Promise<ReadonlySet<string>> {
    const source = this.#files.get(file) ?? this.#sourceOf(file);
    this.#files.set(file, source);
    try {
      return await source.read();
    } catch (error) {
      if (isMissing(error)) this.#end(file);
      else source.fail(error);
      return source.folders();
    }
  }

  async #kubeconfigsIn(folder: string): Promise<string[]> {
    const { isKubeconfig = (name) => !NO_KUBECONFIG.test(name) } = this.#options;
    const entries = await readdir(folder, { withFileTypes: true });
    const files = await Promise.all(
      entries
        .filter(({ name }) => isKubeconfig(name))
        .map(async (entry) => {
          const path = join(folder, entry.name);
          return entry.isFile() || (entry.isSymbolicLink() && !(await isDirectory(path))) ? path : undefined;
        }),
    );
    return files.filter((path) => path !== undefined).sort();
  }

  #endAllBut(files: readonly string[]): void {
    const left = new Set(files);
    for (const file of this.#files.keys()) if (!left.has(file)) this.#end(file);
  }

  #end(file: string): void {
    this.#files.get(file)?.end();
    this.#files.delete(file);
  }

  #sourceOf(path: string): KubeconfigSource {
    const { contexts = 'current', clusterName } = this.#options;
    const stem = withoutExtensions(basename(path));
    const byDefault = (context: string): string => (contexts === 'current' ? stem : `${stem}/${context}`);
    return new KubeconfigSource({
      roster: this.#roster,
      path,
      contexts,
      clusterName: (context) => clusterName?.({ path, context }) ?? byDefault(context),
    });
  }
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function withoutExtensions(fileName: string): string {
  const extension = extname(fileName);
  return EXTENSION.test(extension) ? withoutExtensions(fileName.slice(0, -extension.length)) : fileName;
}
