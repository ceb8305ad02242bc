/** Hands out the addresses of one node's range, `.2` to `.254`; what pods have already is never given twice. */
export class PodAddresses {
  readonly #range: string;
  readonly #holders = new Map<string, string>();

  constructor(range: string) {
    this.#range = range;
  }

  /** The address of a pod, by its uid; the one that it `has` where that is told. Undefined when the range is used up. */
  take(uid: string, has?: string): string | undefined {
    for (const [address, holder] of this.#holders) if (holder === uid) return address;
    if (has !== undefined) {
      this.#holders.set(has, uid);
      return has;
    }
    for (let last = 2; last < 255; last += 1) {
      const address = `${this.#range}.${last}`;
      if (this.#holders.has(address)) continue;
      this.#holders.set(address, uid);
      return address;
    }
    return undefined;
  }

  release(uid: string): void {
    for (const [address, holder] of this.#holders) if (holder === uid) this.#holders.delete(address);
  }
}
