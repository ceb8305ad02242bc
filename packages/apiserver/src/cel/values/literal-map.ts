import { CelMap, CelUint, fail, kindOf, type Value } from './value.ts';

type Key = string | boolean | bigint;

/** A map that an expression makes. `1`, `1u` and `1.0` are the same key. */
export class LiteralMap extends CelMap {
  readonly #members = new Map<Key, readonly [key: Value, value: Value]>();

  get size(): number {
    return this.#members.size;
  }

  get(key: Value): Value | undefined {
    const plain = plainKey(key);
    return plain === undefined ? undefined : this.#members.get(plain)?.[1];
  }

  *keys(): Iterable<Value> {
    for (const [key] of this.#members.values()) yield key;
  }

  /** Fails for a key that is there already, or that no map can have. */
  insert(key: Value, value: Value): void {
    const plain = typeof key === 'number' ? undefined : plainKey(key);
    if (plain === undefined) fail(`unsupported key type: ${kindOf(key)}`);
    if (this.#members.has(plain)) fail(`insert failed: key ${String(plain)} already exists`);
    this.#members.set(plain, [key, value]);
  }
}

function plainKey(key: Value): Key | undefined {
  if (typeof key === 'string' || typeof key === 'boolean' || typeof key === 'bigint') return key;
  if (key instanceof CelUint) return key.value;
  return typeof key === 'number' && Number.isInteger(key) ? BigInt(key) : undefined;
}
