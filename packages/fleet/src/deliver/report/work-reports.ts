import { isStatusError, objectKey } from '@asterism/machinery';
import type { Cluster, Enqueue, Manager, Request, Result } from '@asterism/runtime';
import { WORKS, type Work } from '../../api/index.ts';

/** How long what the hub could not be told waits for its return, which is heard of sooner. */
const UNTOLD_MS = 60_000;

/**
 * Writes what became of Works into their status. What a hub that gives no answer could not be told waits for its return, rather
 * than being tried over and over for each Work.
 */
export class WorkReports {
  readonly #local: Cluster;
  /** By their keys, the Works of which the hub is to hear. */
  readonly #untold = new Map<string, Request>();

  constructor({ local }: Manager) {
    this.#local = local;
  }

  /** Asks for what could not be told when the hub answers again; `onReturn` is called before, with the key of each Work. */
  follow(enqueue: Enqueue, signal: AbortSignal, onReturn: (key: string) => void): void {
    const forgo = this.#local.onReturn(() => {
      for (const [key, request] of this.#untold) {
        onReturn(key);
        enqueue(request);
      }
      this.#untold.clear();
    });
    signal.addEventListener('abort', forgo, { once: true });
  }

  /** Resolves with when to try again, where the hub gives no answer. */
  async write(
    hub: Cluster,
    { work, request }: { work: Work; request: Request },
    status: NonNullable<Work['status']>,
    signal: AbortSignal,
  ): Promise<Result | void> {
    const { name = '', namespace, uid } = work.metadata;
    const body = [
      { op: 'test', path: '/metadata/uid', value: uid },
      { op: 'add', path: '/status', value: status },
    ];
    const works = hub.client.resource(WORKS);
    try {
      await works.patch({ namespace, name }, { type: 'json', body }, { subresource: 'status', signal });
    } catch (error) {
      if (signal.aborted || isStatusError(error) || hub.health() !== 'Unreachable') throw error;
      this.#untold.set(objectKey(work), request);
      return { requeueAfter: UNTOLD_MS };
    }
  }

  forget(key: string): void {
    this.#untold.delete(key);
  }
}
