import { DEFAULT_HISTORY, type HistoryBounds } from '../storage/history-window.ts';
import type { Change, CommitListener, Contents, Storage, StoredRow, WriteOutcome } from '../storage/storage.ts';

/** A storage whose past the server can be made to forget, as when etcd is compacted. */
export class ForgetfulStorage implements Storage {
  readonly history: { -readonly [Bound in keyof HistoryBounds]: HistoryBounds[Bound] };
  readonly #storage: Storage;
  #onCommit: CommitListener = () => {};

  constructor(storage: Storage) {
    this.#storage = storage;
    this.history = { ...(storage.history ?? DEFAULT_HISTORY) };
  }

  /** Everything up to now: who has not seen it lists anew. */
  forget(): void {
    const { changes } = this.history;
    this.history.changes = 0;
    this.#onCommit([]); // The server looks at what it keeps with each commit, an empty one too.
    this.history.changes = changes;
  }

  async open(onCommit: CommitListener, onObject: (object: StoredRow) => void): Promise<Contents> {
    const contents = await this.#storage.open(onCommit, onObject);
    this.#onCommit = onCommit;
    return contents;
  }

  write(changes: readonly Change[]): Promise<WriteOutcome> {
    return this.#storage.write(changes);
  }

  backup(file: string): Promise<void> {
    return this.#storage.backup(file);
  }

  async close(): Promise<void> {
    this.#onCommit = () => {};
    await this.#storage.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
