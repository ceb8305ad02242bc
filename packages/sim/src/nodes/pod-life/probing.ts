import type { Clock } from '@asterism/client';
import type { Probe } from '@asterism/machinery';
import type { Outcome } from './run-check.ts';

export interface ProbingOptions {
  probe: Probe;
  clock: Clock;
  /** Whether it counts as passing before it has been tried often enough. */
  initially: boolean;
  check(timeoutMs: number): Promise<Outcome>;
  /** After each time that it failed. */
  onFailure(message: string): void;
  /** When enough results in a row say otherwise than before. Told of a failure at first too. */
  onChange(passing: boolean): void;
}

/** Tries one probe of a container again and again, until it is stopped. */
export class Probing {
  readonly #options: ProbingOptions;
  readonly #periodMs: number;
  #passing: boolean;
  #decided = false;
  #last: boolean | undefined;
  #inARow = 0;
  #stopped = false;
  #cancel: () => void;

  constructor(options: ProbingOptions) {
    this.#options = options;
    this.#passing = options.initially;
    this.#periodMs = (options.probe.periodSeconds ?? 10) * 1000;
    this.#cancel = this.#after((options.probe.initialDelaySeconds ?? 0) * 1000);
  }

  get passing(): boolean {
    return this.#passing;
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  #after(ms: number): () => void {
    return this.#options.clock.setTimer(() => void this.#try(), ms, { background: true });
  }

  async #try(): Promise<void> {
    const { check, probe, onFailure } = this.#options;
    const failure = await check((probe.timeoutSeconds ?? 1) * 1000);
    if (this.#stopped) return;
    this.#cancel = this.#after(this.#periodMs);
    if (failure !== undefined) onFailure(failure);
    this.#note(failure === undefined);
  }

  #note(passed: boolean): void {
    const { probe, onChange } = this.#options;
    this.#inARow = this.#last === passed ? this.#inARow + 1 : 1;
    this.#last = passed;
    if (this.#inARow < ((passed ? probe.successThreshold : probe.failureThreshold) ?? (passed ? 1 : 3))) return;
    if (this.#passing === passed && this.#decided) return;
    this.#decided = true;
    this.#passing = passed;
    onChange(passed);
  }
}
