import { add, NOTHING, type Resources, subtract } from './pod-requests.ts';

interface Entry {
  node: string;
  requests: Resources;
}

/** What the pods of each node ask for, kept up by one entry a pod. */
export class NodeLedger {
  readonly #entries = new Map<string, Entry>();
  readonly #sums = new Map<string, Resources>();

  used(node: string): Resources {
    return this.#sums.get(node) ?? NOTHING;
  }

  has(uid: string): boolean {
    return this.#entries.has(uid);
  }

  enter(uid: string, entry: Entry): void {
    this.remove(uid);
    this.#entries.set(uid, entry);
    this.#sums.set(entry.node, add(this.used(entry.node), entry.requests));
  }

  remove(uid: string): void {
    const entry = this.#entries.get(uid);
    if (!entry) return;
    this.#entries.delete(uid);
    this.#sums.set(entry.node, subtract(this.used(entry.node), entry.requests));
  }
}
