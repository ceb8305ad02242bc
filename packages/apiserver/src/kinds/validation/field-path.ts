/**
 * A place within an object as messages name it: `spec.containers[0].resources.limits[cpu]`.
 *
 * Validation names a place for every field it looks at and speaks of next to none, so a path is two references, and its text
 * is put together only where it is asked for.
 */
export class FieldPath {
  readonly #parent: FieldPath | undefined;
  /** What follows the parent's text; a number is the index of a list. */
  readonly #step: string | number;

  private constructor(parent: FieldPath | undefined, step: string | number) {
    this.#parent = parent;
    this.#step = step;
  }

  /** A field of the object itself; the empty name stands for the object. */
  static of(name: string): FieldPath {
    return new FieldPath(undefined, name);
  }

  child(name: string): FieldPath {
    return new FieldPath(this, `.${name}`);
  }

  index(index: number): FieldPath {
    return new FieldPath(this, index);
  }

  key(key: string): FieldPath {
    return new FieldPath(this, `[${key}]`);
  }

  toString(): string {
    const step = typeof this.#step === 'number' ? `[${this.#step}]` : this.#step;
    if (!this.#parent) return step;
    const before = this.#parent.toString();
    // Below the object itself a name stands without a dot.
    return before === '' && step.startsWith('.') ? step.slice(1) : before + step;
  }
}
