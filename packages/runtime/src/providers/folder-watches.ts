import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Logger } from '../log/logger.ts';

interface FolderWatch {
  watcher: FSWatcher;
  inode: number;
}

/**
 * Tells when something changes in a set of folders. Folders are watched instead of files, because editors, `mv` and the
 * kubelet's volumes put a new file in the place of the old one. A hint only: some file systems tell nothing, so whoever uses it
 * also looks from time to time.
 */
export class FolderWatches implements Disposable {
  readonly #onChange: () => void;
  readonly #logger: Logger;
  readonly #watches = new Map<string, FolderWatch>();
  #disposed = false;

  constructor(onChange: () => void, logger: Logger) {
    this.#onChange = onChange;
    this.#logger = logger;
  }

  /** Watches exactly these, if they are there; resolves with whether a watch is new: what was read before may be old. */
  async follow(folders: ReadonlySet<string>): Promise<boolean> {
    for (const folder of this.#watches.keys()) if (!folders.has(folder)) this.#end(folder);
    const begun = await Promise.all([...folders].map((folder) => this.#begin(folder)));
    return begun.includes(true);
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    for (const folder of this.#watches.keys()) this.#end(folder);
  }

  async #begin(folder: string): Promise<boolean> {
    const inode = await stat(folder).then(
      ({ ino }) => ino,
      () => undefined,
    );
    if (inode !== undefined && this.#watches.get(folder)?.inode === inode) return false;
    this.#end(folder); // Another folder has its place.
    if (inode === undefined || this.#disposed) return false;
    try {
      const watcher = watch(folder, { persistent: false }, this.#onChange);
      watcher.on('error', (error) => this.#failed(folder, error));
      this.#watches.set(folder, { watcher, inode });
      return true;
    } catch (error) {
      this.#failed(folder, error);
      return false;
    }
  }

  #end(folder: string): void {
    this.#watches.get(folder)?.watcher.close();
    this.#watches.delete(folder);
  }

  #failed(folder: string, error: unknown): void {
    this.#end(folder);
    this.#logger.debug({ err: error, folder }, 'the folder cannot be watched; it is looked at from time to time');
  }
}
