import assert from 'node:assert/strict';
import type { Client } from '@asterism/client';
import { CONFIG_MAPS, isConflict, isAlreadyExists, type KubeObject, StatusError } from '@asterism/machinery';

/** What the value of an object may be after a crash: undefined stands for none. */
type Value = string | undefined;

interface Known {
  /** What the server last acknowledged. */
  acknowledged: Value;
  /** Of the acknowledgement. */
  resourceVersion: string;
  /** What was asked for and not answered. */
  asked: { value: Value } | undefined;
}

const NAMESPACE = 'default';
const NAMES_OF_A_WRITER = 6;

/** Writers of ConfigMaps, and what they know: each has names of its own, so that it knows what the server must have. */
export class AcknowledgedWrites {
  readonly #random: () => number;
  readonly #known = new Map<string, Known>();
  /** Values of writes that the server refused. */
  readonly refused = new Set<string>();
  acknowledgements = 0;
  /** The highest resourceVersion that any answer had. */
  newest = 0;
  #counter = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** One writer, until the server is gone. */
  async write(client: Client, writer: number): Promise<void> {
    for (;;) {
      const name = `w${writer}-${Math.floor(this.#random() * NAMES_OF_A_WRITER)}`;
      const known = this.#known.get(name) ?? { acknowledged: undefined, resourceVersion: '', asked: undefined };
      this.#known.set(name, known);
      try {
        if (this.#random() < 0.15) await this.#writeStale(client, name, known);
        else await this.#writeWell(client, name, known);
      } catch (error) {
        if (error instanceof StatusError) throw error;
        return; // Killed: what was asked may be there or not.
      }
    }
  }

  /** That the server has what it acknowledged and nothing that it refused. What it was only asked for is now known. */
  check(items: readonly KubeObject[], resourceVersion: string | undefined): void {
    assert.ok(
      Number(resourceVersion) >= this.newest,
      `resourceVersion went back to ${resourceVersion} from ${this.newest}`,
    );
    const found = new Map(items.map((item) => [item.metadata?.name ?? '', item]));
    for (const [name, known] of this.#known) {
      const item = found.get(name);
      const value = valueOf(item);
      const possible: Value[] = [known.acknowledged, ...(known.asked ? [known.asked.value] : [])];
      assert.ok(possible.includes(value), `${name} is ${value}, and it was acknowledged as ${known.acknowledged}`);
      assert.ok(value === undefined || !this.refused.has(value), `${name} is ${value}, which was refused`);
      if (value === known.acknowledged && value !== undefined) {
        assert.equal(item?.metadata?.resourceVersion, known.resourceVersion, name);
      }
      Object.assign(known, {
        acknowledged: value,
        resourceVersion: item?.metadata?.resourceVersion ?? '',
        asked: undefined,
      });
    }
    this.newest = Math.max(this.newest, Number(resourceVersion));
  }

  async #writeWell(client: Client, name: string, known: Known): Promise<void> {
    const maps = client.resource(CONFIG_MAPS);
    const value = this.#nextValue();
    const ref = { namespace: NAMESPACE, name };
    if (known.acknowledged !== undefined && this.#random() < 0.25) {
      known.asked = { value: undefined };
      await maps.delete(ref, { preconditions: { resourceVersion: known.resourceVersion } });
      this.#acknowledged(known, undefined, undefined);
      return;
    }
    known.asked = { value };
    const exists = known.acknowledged !== undefined;
    const object = mapOf(name, value, exists ? known.resourceVersion : undefined);
    const answer = exists ? await maps.update(object) : await maps.create(object);
    this.#acknowledged(known, value, answer);
  }

  /** One that must be refused: of an old version, or of what is there already. */
  async #writeStale(client: Client, name: string, known: Known): Promise<void> {
    const maps = client.resource(CONFIG_MAPS);
    const value = this.#nextValue();
    this.refused.add(value);
    const exists = known.acknowledged !== undefined;
    const stale = mapOf(name, value, '1');
    const refused = exists && this.#random() < 0.5 ? maps.create(mapOf(name, value)) : maps.update(stale);
    try {
      await refused;
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error)) return;
      if (error instanceof StatusError && !exists) return; // not found
      throw error;
    }
    assert.fail(`a stale write of ${name} was taken`);
  }

  #acknowledged(known: Known, value: Value, answer: KubeObject | undefined): void {
    const resourceVersion = answer?.metadata?.resourceVersion ?? '';
    Object.assign(known, { acknowledged: value, resourceVersion, asked: undefined });
    this.newest = Math.max(this.newest, Number(resourceVersion));
    this.acknowledgements++;
  }

  #nextValue(): string {
    return `${++this.#counter}`;
  }
}

/** As {@link AcknowledgedWrites} wrote it; undefined of no object. */
export function valueOf(object: KubeObject | undefined): Value {
  const data = object?.['data'] as { value?: string } | undefined;
  return data?.value;
}

function mapOf(name: string, value: string, resourceVersion?: string) {
  const metadata = {
    name,
    namespace: NAMESPACE,
    labels: { soak: 'storage' },
    ...(resourceVersion ? { resourceVersion } : {}),
  };
  return { metadata, data: { value, filling: 'x'.repeat((Number(value) * 37) % 6000) } };
}
