/** When each node was last heard, by the own clock: what a node says of the time is not trusted. */
export class NodeSilence {
  readonly #graceMs: number;
  readonly #heard = new Map<string, { sign: string; at: number }>();

  /** @param graceMs how long a node may say nothing */
  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  /** Takes note of the last sign of a node, whatever that is: whether it has been the same for too long. */
  isSilent(node: string, sign: string, now: number): boolean {
    const last = this.#heard.get(node);
    if (last?.sign !== sign) {
      this.#heard.set(node, { sign, at: now });
      return false;
    }
    return now - last.at > this.#graceMs;
  }

  /** Forgets all that are not among these. */
  keep(nodes: ReadonlySet<string>): void {
    for (const node of this.#heard.keys()) if (!nodes.has(node)) this.#heard.delete(node);
  }
}
