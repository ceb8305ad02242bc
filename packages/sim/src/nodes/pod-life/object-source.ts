import type { Client, Clock } from '@asterism/client';
import { CONFIG_MAPS, isNotFound, SECRETS } from '@asterism/machinery';

/** What a ConfigMap or Secret holds, by key. */
export type ObjectData = ReadonlyMap<string, Uint8Array>;

export interface SourceRef {
  kind: 'ConfigMap' | 'Secret';
  namespace: string;
  name: string;
}

const FRESH_MS = 1000;

/** The ConfigMaps and Secrets that pods ask for. Many pods that start at once ask the API server once. */
export class ObjectSource {
  readonly #client: () => Client;
  readonly #clock: Clock;
  readonly #asked = new Map<string, { at: number; data: Promise<ObjectData | undefined> }>();

  constructor(client: () => Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** At most a second old; undefined where there is none. */
  get({ kind, namespace, name }: SourceRef): Promise<ObjectData | undefined> {
    const now = this.#clock.monotonic();
    for (const [key, { at }] of this.#asked) if (now - at > FRESH_MS) this.#asked.delete(key);
    const key = `${kind}/${namespace}/${name}`;
    const present = this.#asked.get(key);
    if (present) return present.data;
    const data = this.#read({ kind, namespace, name });
    this.#asked.set(key, { at: now, data });
    // What is not there yet, or could not be read, is asked for again.
    const forget = (): void => void this.#asked.delete(key);
    data.then((found) => found ?? forget(), forget);
    return data;
  }

  async #read({ kind, namespace, name }: SourceRef): Promise<ObjectData | undefined> {
    try {
      if (kind === 'Secret') {
        const { data = {} } = await this.#client().resource(SECRETS).get({ namespace, name });
        return new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64')]));
      }
      const { data = {}, binaryData = {} } = await this.#client().resource(CONFIG_MAPS).get({ namespace, name });
      return new Map([
        ...Object.entries(data).map(([key, value]) => [key, Buffer.from(value)] as const),
        ...Object.entries(binaryData).map(([key, value]) => [key, Buffer.from(value, 'base64')] as const),
      ]);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}
