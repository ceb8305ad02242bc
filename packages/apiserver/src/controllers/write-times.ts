/** By when which revisions were written. What was noted for one holds for all before it. */
export class WriteTimes {
  /** Both rise, whatever the clock does. */
  readonly #noted: { revision: number; time: number }[] = [];

  get isEmpty(): boolean {
    return this.#noted.length === 0;
  }

  /** `revision` was the newest one at `time`, in ms since 1970. Notes come in the order of their revisions. */
  note(revision: number, time: number): void {
    const last = this.#noted.at(-1);
    if (last && time <= last.time) last.revision = revision;
    else this.#noted.push({ revision, time });
  }

  /** The newest revision that is known to have been written by `time`, 0 where none is. Earlier times are not asked for again. */
  revisionBy(time: number): number {
    const after = this.#noted.findIndex((noted) => noted.time > time);
    const count = after === -1 ? this.#noted.length : after;
    if (count === 0) return 0;
    this.#noted.splice(0, count - 1);
    return this.#noted[0]!.revision;
  }
}
