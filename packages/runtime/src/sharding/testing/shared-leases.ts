import type { Client, Clock } from '@asterism/client';
import type { ManualClock } from '@asterism/client/testing';
import { alreadyExists, conflict, type Lease, LEASES, notFound } from '@asterism/machinery';
import type { Informer, InformerHandler } from '../../cache/informer.ts';

interface Call {
  signal?: AbortSignal | undefined;
}

interface Ref {
  name: string;
}

/** The Leases of an API server without a server, for several processes whose time a test holds. */
export class SharedLeases {
  readonly leases = new Map<string, Lease>();
  readonly handlers = new Set<{ process: SimulatedProcess; handler: InformerHandler<Lease> }>();
  writes = 0;
  #version = 0;

  get(name: string): Lease {
    const lease = this.leases.get(name);
    if (!lease) throw notFound(LEASES, name);
    return lease;
  }

  create(lease: Lease): Lease {
    const name = lease.metadata?.name ?? '';
    if (this.leases.has(name)) throw alreadyExists(LEASES, name);
    return this.#store(name, lease);
  }

  update(lease: Lease): Lease {
    const name = lease.metadata?.name ?? '';
    if (this.get(name).metadata?.resourceVersion !== lease.metadata?.resourceVersion) {
      throw conflict(LEASES, name, 'it changed');
    }
    return this.#store(name, lease);
  }

  annotate(name: string, annotations: Record<string, string>): Lease {
    const { metadata, ...lease } = this.get(name);
    const merged = { ...metadata, annotations: { ...metadata?.annotations, ...annotations } };
    return this.#store(name, { ...lease, metadata: merged });
  }

  delete(name: string): Lease {
    const lease = this.get(name);
    this.leases.delete(name);
    for (const { process, handler } of this.handlers) process.whenAwake(() => handler.onDelete?.(lease, false));
    return lease;
  }

  #store(name: string, lease: Lease): Lease {
    const before = this.leases.get(name);
    this.#version += 1;
    this.writes += 1;
    const after = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(this.#version) } };
    this.leases.set(name, after);
    for (const { process, handler } of this.handlers) {
      process.whenAwake(() => (before ? handler.onUpdate?.(before, after, false) : handler.onAdd?.(after, false)));
    }
    return after;
  }
}

/** A process as far as Leases and time go: it can be frozen, be cut off the server, and die. */
export class SimulatedProcess {
  readonly #server: SharedLeases;
  readonly #time: ManualClock;
  readonly #missed: (() => void)[] = [];
  #state: 'awake' | 'frozen' | 'dead' = 'awake';
  /** No request gets through, though the process works. */
  cut = false;

  constructor(server: SharedLeases, time: ManualClock) {
    this.#server = server;
    this.#time = time;
  }

  get awake(): boolean {
    return this.#state === 'awake';
  }

  get dead(): boolean {
    return this.#state === 'dead';
  }

  freeze(): void {
    this.#state = 'frozen';
  }

  /** What came meanwhile comes now, after `first`. */
  wake(first: () => void): void {
    this.#state = 'awake';
    first();
    for (const missed of this.#missed.splice(0)) missed();
  }

  die(): void {
    this.#state = 'dead';
    this.#missed.length = 0;
  }

  whenAwake(callback: () => void): void {
    if (this.#state === 'frozen') this.#missed.push(callback);
    if (this.#state === 'awake') callback();
  }

  get clock(): Clock {
    return {
      wall: () => this.#time.wall(),
      monotonic: () => this.#time.monotonic(),
      setTimer: (callback, ms) => this.#time.setTimer(() => this.whenAwake(callback), ms),
    };
  }

  get client(): Client {
    const server = this.#server;
    const leases = {
      type: LEASES,
      get: ({ name }: Ref, call: Call = {}) => this.#ask(call, () => server.get(name)),
      create: (lease: Lease, call: Call = {}) => this.#ask(call, () => server.create(lease)),
      update: (lease: Lease, call: Call = {}) => this.#ask(call, () => server.update(lease)),
      delete: ({ name }: Ref, call: Call = {}) => this.#ask(call, () => server.delete(name)),
      patch: ({ name }: Ref, { body }: { body: Lease }, call: Call = {}) =>
        this.#ask(call, () => server.annotate(name, body.metadata?.annotations ?? {})),
    };
    return { resource: () => leases } as unknown as Client;
  }

  get informer(): Pick<Informer<Lease>, 'addHandler' | 'synced'> {
    const server = this.#server;
    return {
      addHandler: (handler) => {
        const entry = { process: this, handler };
        server.handlers.add(entry);
        for (const lease of server.leases.values()) handler.onAdd?.(lease, true);
        return { hasSynced: true, remove: () => server.handlers.delete(entry) };
      },
      synced: () => Promise.resolve(),
    };
  }

  /** A frozen process sends nothing, and hears of answers when it wakes. */
  async #ask(call: Call, act: () => Lease): Promise<Lease> {
    await this.#awakening();
    call.signal?.throwIfAborted();
    if (this.cut) {
      return await new Promise((_, reject) => {
        call.signal?.addEventListener('abort', () => reject(call.signal?.reason as Error), { once: true });
      });
    }
    try {
      return act();
    } finally {
      await this.#awakening();
    }
  }

  #awakening(): Promise<void> {
    return new Promise((resolve) => setImmediate(() => this.whenAwake(resolve)));
  }
}
