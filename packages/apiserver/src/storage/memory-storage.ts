import {
  type Change,
  type CommitListener,
  type Committed,
  type Contents,
  formatStorageKey,
  type Storage,
  type StoredRow,
  type WriteOutcome,
} from './storage.ts';
import { StorageError } from './storage-error.ts';

/**
 * Objects that live as long as this value: for tests, and for servers that need no memory of their own. Closed and opened
 * again it still has them, but no history: watches begin anew.
 */
export function createMemoryStorage(): Storage {
  return new MemoryStorage();
}

class MemoryStorage implements Storage {
  readonly keepsValues = true;
  readonly #rows = new Map<string, StoredRow>();
  #revision = 0;
  #onCommit: CommitListener | undefined;

  async open(onCommit: CommitListener, onObject: (object: StoredRow) => void): Promise<Contents> {
    if (this.#onCommit)
      throw new StorageError('LOCKED', 'this memory storage is in use by another server of this process');
    this.#onCommit = onCommit;
    for (const row of this.#rows.values()) onObject(row);
    return { revision: this.#revision, compacted: this.#revision, history: [] };
  }

  async write(changes: readonly Change[]): Promise<WriteOutcome> {
    if (!this.#onCommit) throw new StorageError('CLOSED', 'this memory storage is closed');
    for (const change of changes) {
      const actual = this.#rows.get(formatStorageKey(change))?.revision ?? 0;
      const impossible = change.type === 'delete' && change.expected === 0;
      if (impossible || actual !== change.expected) return { conflict: change, actual };
    }
    const committed: Committed[] = changes.map((change, index) => {
      const revision = this.#revision + index + 1;
      const { groupResource, namespace, name, type } = change;
      return { groupResource, namespace, name, type, revision, value: change.encode(revision), change };
    });
    this.#revision += changes.length;
    for (const change of committed) {
      const { groupResource, namespace, name, revision, value } = change;
      if (change.type === 'delete') this.#rows.delete(formatStorageKey(change));
      else this.#rows.set(formatStorageKey(change), { groupResource, namespace, name, revision, value });
    }
    this.#onCommit(committed);
    return { committed };
  }

  async backup(): Promise<void> {
    throw new StorageError(
      'UNAVAILABLE',
      'a memory storage has no file to copy: use SQLite for data that needs a backup',
    );
  }

  async close(): Promise<void> {
    this.#onCommit = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
