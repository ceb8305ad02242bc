/** As many events as upstream's `--audit-log-batch-buffer-size` holds wait for a slow target. */
const MAX_LINES = 10_000;
/** And so many characters of them. */
const MAX_CHARACTERS = 64 * 1024 * 1024;
/** Events of this long leave together. */
const GATHER_MS = 10;
/** How long a stop waits for a target that does not answer. */
const CLOSE_MS = 1_000;

/** Where lines go. */
export interface LineTarget {
  /** `onWritten` is told of lines that are safe, also where it rejects in the end. Never called again before it has settled. */
  write(lines: readonly string[], onWritten: (count: number) => void): Promise<void>;
  close(): Promise<void>;
}

/** Brings lines to a target in batches and in order. What the target does not take, or not in time, is lost and told. */
export class LineQueue {
  readonly #target: LineTarget;
  readonly #onLost: (count: number, error: unknown) => void;
  #lines: string[] = [];
  #characters = 0;
  /** Those that the target has not taken yet. */
  #underWay = 0;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(target: LineTarget, onLost: (count: number, error: unknown) => void) {
    this.#target = target;
    this.#onLost = onLost;
  }

  add(line: string): void {
    if (this.#closed) return this.#onLost(1, new Error('the server has stopped'));
    if (this.#lines.length >= MAX_LINES || this.#characters + line.length > MAX_CHARACTERS) {
      return this.#onLost(1, new Error('too many events wait to be written'));
    }
    this.#lines.push(line);
    this.#characters += line.length;
    if (this.#running === undefined) this.#timer ??= setTimeout(() => this.#begin(), GATHER_MS);
  }

  /** Writes what there is. Where the target does not take it within a second it is lost. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#lines.length > 0) this.#begin();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), CLOSE_MS);
    });
    const done = (this.#running ?? Promise.resolve()).then(() => this.#target.close());
    done.catch(() => {});
    const first = await Promise.race([done, late]);
    clearTimeout(timer);
    const left = this.#lines.length + this.#underWay;
    if (first === 'late' && left > 0) this.#onLost(left, new Error('the server stopped before they were written'));
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    while (this.#lines.length > 0) {
      const batch = this.#lines;
      this.#lines = [];
      this.#characters = 0;
      this.#underWay = batch.length;
      try {
        await this.#target.write(batch, (count) => {
          this.#underWay -= count;
        });
      } catch (error) {
        this.#onLost(this.#underWay, error);
      }
      this.#underWay = 0;
    }
    this.#running = undefined;
  }
}
