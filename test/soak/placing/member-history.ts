import type { Client } from '@asterism/client';
import { MANAGED_LABEL } from '@asterism/fleet/api';
import { deepEqual, type KubeObject, type ResourceType } from '@asterism/machinery';
import { watchResource } from '@asterism/runtime';
import { keyOf } from './expected.ts';
import { RESOURCES } from './wanted.ts';

/** What became of one object of a member in one round. */
export interface ObjectWrites {
  writes: number;
  /** That it was created, each time under another uid. */
  uids: ReadonlySet<string>;
}

interface Waiting {
  writes: number;
  resolve: () => void;
}

/**
 * Everything that stands in the members and is ours, and each change that whoever placed it has made to it, told by watches on the
 * members themselves: what a member's own controllers do to it (its status) is not counted.
 */
export class MemberHistory implements AsyncDisposable {
  readonly #present = new Map<string, Map<string, KubeObject>>();
  readonly #round = new Map<string, { writes: number; uids: Set<string> }>();
  readonly #stop = new AbortController();
  readonly #following: Promise<unknown>;
  #waiting: Waiting[] = [];
  #writes = 0;

  constructor(members: readonly { name: string; client: Client }[]) {
    this.#following = Promise.all(
      members.flatMap(({ name, client }) => {
        this.#present.set(name, new Map());
        return RESOURCES.map((type) => this.#follow(name, client, type));
      }),
    );
  }

  /** Writes in this round. */
  get writes(): number {
    return this.#writes;
  }

  present(cluster: string): ReadonlyMap<string, KubeObject> {
    return this.#present.get(cluster) ?? new Map();
  }

  /** Forgets all writes: they are counted from here. */
  beginRound(): void {
    this.#round.clear();
    this.#writes = 0;
  }

  /** Resolves when so many writes of this round were seen. Who waits no longer aborts. */
  async reached(writes: number, signal: AbortSignal): Promise<void> {
    if (this.#writes >= writes) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ writes, resolve });
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
  }

  /** By `cluster: key`, what was written in this round. */
  round(): ReadonlyMap<string, ObjectWrites> {
    return this.#round;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#following;
  }

  async #follow(cluster: string, client: Client, type: ResourceType): Promise<void> {
    const { signal } = this.#stop;
    const options = { labelSelector: MANAGED_LABEL, signal };
    // Nothing but the member's own end ends its watches, so a list is the first one's alone.
    for await (const event of watchResource(client.resource(type), options)) {
      if (event.type === 'Init' || event.type === 'InitDone') continue;
      this.#note(cluster, { ...event.object, kind: type.kind }, event.type === 'Delete');
    }
  }

  #note(cluster: string, object: KubeObject, gone: boolean): void {
    const present = this.#present.get(cluster);
    const key = keyOf(object);
    const before = present?.get(key);
    if (gone) present?.delete(key);
    else present?.set(key, object);
    if (!gone && before && deepEqual(wishIn(before), wishIn(object))) return;
    const id = `${cluster}: ${key}`;
    const seen = this.#round.get(id) ?? { writes: 0, uids: new Set<string>() };
    this.#round.set(id, seen);
    seen.writes += 1;
    if (before?.metadata?.uid !== object.metadata?.uid) seen.uids.add(object.metadata?.uid ?? '');
    this.#writes += 1;
    const reached = this.#waiting.filter(({ writes }) => writes <= this.#writes);
    this.#waiting = this.#waiting.filter(({ writes }) => writes > this.#writes);
    for (const { resolve } of reached) resolve();
  }
}

/** What somebody has asked for of an object: not what its cluster makes of it. */
function wishIn(object: KubeObject): unknown {
  const { metadata = {}, status: _, ...content } = object;
  const { uid, labels, annotations = {} } = metadata;
  const ours = Object.entries(annotations).filter(([name]) => !name.startsWith('deployment.kubernetes.io/'));
  return { uid, labels, annotations: Object.fromEntries(ours), content };
}
