import type { Client } from '@asterism/client';
import { alreadyExists, conflict, type Lease, LEASES, notFound } from '@asterism/machinery';

export type Verb = 'get' | 'create' | 'update';
/** `lost` is done, but its answer does not come; `hang` is not done either; `error` is answered so. */
export type Fault = 'none' | 'hang' | 'lost' | 'error';

/** One Lease in an API server that can misbehave, without a server: for tests that hold the time. */
export class FakeLeases {
  live: Lease | undefined;
  /** What goes wrong with a call; nothing, until a test says so. */
  fault: (verb: Verb) => Fault = () => 'none';
  readonly calls: Verb[] = [];
  #version = 0;

  get client(): Client {
    const lease = {
      type: LEASES,
      get: (_: unknown, { signal }: { signal?: AbortSignal } = {}) => this.#answer('get', signal, () => this.#get()),
      create: (object: Lease, { signal }: { signal?: AbortSignal } = {}) =>
        this.#answer('create', signal, () => {
          if (this.live) throw alreadyExists(LEASES, 'lease');
          return this.#store(object);
        }),
      update: (object: Lease, { signal }: { signal?: AbortSignal } = {}) =>
        this.#answer('update', signal, () => {
          if (this.#get().metadata?.resourceVersion !== object.metadata?.resourceVersion) {
            throw conflict(LEASES, 'lease', 'it changed');
          }
          return this.#store(object);
        }),
    };
    return { resource: () => lease } as unknown as Client;
  }

  holder(): string | undefined {
    return this.live?.spec?.holderIdentity;
  }

  /** As somebody else would. */
  write(spec: Lease['spec']): void {
    this.#store({ metadata: { name: 'lease' }, ...(spec ? { spec } : {}) });
  }

  /** Changes the object, and nothing that an election is about. */
  label(): void {
    this.#store({ ...this.live, metadata: { ...this.live?.metadata, labels: { a: 'b' } } });
  }

  async #answer(verb: Verb, signal: AbortSignal | undefined, act: () => Lease): Promise<Lease> {
    this.calls.push(verb);
    await Promise.resolve();
    signal?.throwIfAborted();
    const fault = this.fault(verb);
    if (fault === 'error') throw new Error('the server is unwell');
    if (fault === 'lost') act();
    if (fault === 'none') return act();
    return await new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  }

  #get(): Lease {
    if (!this.live) throw notFound(LEASES, 'lease');
    return this.live;
  }

  #store(lease: Lease): Lease {
    this.#version += 1;
    this.live = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(this.#version) } };
    return this.live;
  }
}
