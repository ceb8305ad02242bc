/** The shell cannot go on: its script is not well-formed, or a value does not expand. It ends with code 2. */
export class ShellError extends Error {
  override readonly name = 'ShellError';
}

/** `exit`, `return`, `break` and `continue`: the value is the exit code or the number of loops. */
export class Jump extends Error {
  override readonly name = 'Jump';
  readonly kind: 'exit' | 'return' | 'break' | 'continue';
  value: number;

  constructor(kind: Jump['kind'], value: number) {
    super(kind);
    this.kind = kind;
    this.value = value;
  }
}
