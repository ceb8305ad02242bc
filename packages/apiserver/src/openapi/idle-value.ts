/** A value that is made when asked for, and dropped when nobody has asked for it for a while. */
export class IdleValue<T> {
  readonly #make: () => Promise<T>;
  readonly #idleMs: number;
  #value: Promise<T> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(make: () => Promise<T>, idleMs: number) {
    this.#make = make;
    this.#idleMs = idleMs;
  }

  /** Those who ask at the same time wait for the same one; a failure is not kept. */
  get(): Promise<T> {
    this.#value ??= this.#make().catch((error: unknown) => {
      this.#value = undefined;
      throw error;
    });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.#value = undefined), this.#idleMs).unref();
    return this.#value;
  }
}
