import { formatGroupResource, type KubeObject, objectKey, type ResourceType } from '@asterism/machinery';
import { type Request, requestKey } from './reconcile.ts';
import type { PlacedWrite } from './write-ledger.ts';

/** So many writes are awaited at most: of some the event never comes, as where a watch broke. */
const MOST_AWAITED = 10_000;

interface Run {
  written: Set<string>;
  heard: Set<string>;
}

/**
 * Which events are the echo of what a request's own reconcile wrote. Such an event may come before the answer to the write: what is
 * heard of while a request is worked on is therefore judged when that is over.
 */
export class Echoes {
  readonly #running = new Map<string, Run>();
  /** What was written and not heard of yet, with the request whose reconcile it was. */
  readonly #awaited = new Map<string, string>();

  begin(request: Request): void {
    this.#running.set(requestKey(request), { written: new Set(), heard: new Set() });
  }

  wrote(request: Request, { cluster, version: { type, key, resourceVersion } }: PlacedWrite): void {
    this.#running.get(requestKey(request))?.written.add(versionKey(cluster, type, key, resourceVersion));
  }

  /** Whether an event asks for a request; false too where only {@link end} can tell. */
  asks(request: Request, cluster: string, type: ResourceType, object: KubeObject): boolean {
    const version = versionKey(cluster, type, objectKey(object), object.metadata?.resourceVersion ?? '');
    const key = requestKey(request);
    const run = this.#running.get(key);
    if (run) {
      run.heard.add(version);
      return false;
    }
    if (this.#awaited.get(version) !== key) return true;
    this.#awaited.delete(version);
    return false;
  }

  /** Whether something was heard meanwhile that asks for the request. */
  end(request: Request): boolean {
    const key = requestKey(request);
    const run = this.#running.get(key);
    this.#running.delete(key);
    if (!run) return false;
    for (const version of run.written) if (!run.heard.has(version)) this.#await(version, key);
    return [...run.heard].some((version) => !run.written.has(version));
  }

  #await(version: string, key: string): void {
    this.#awaited.set(version, key);
    if (this.#awaited.size <= MOST_AWAITED) return;
    for (const oldest of this.#awaited.keys()) return void this.#awaited.delete(oldest);
  }
}

function versionKey(cluster: string, type: ResourceType, key: string, resourceVersion: string): string {
  return `${cluster}/${formatGroupResource(type)}/${key}@${resourceVersion}`;
}
