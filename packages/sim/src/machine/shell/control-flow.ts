/** `exit`: the shell ends. */
export class ExitShell extends Error {
  override readonly name = 'ExitShell';
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code & 0xff;
  }
}

/** `break` and `continue`, through so many loops. */
export class BreakLoop extends Error {
  override readonly name = 'BreakLoop';
  readonly goOn: boolean;
  levels: number;

  constructor(goOn: boolean, levels: number) {
    super(goOn ? 'continue' : 'break');
    this.goOn = goOn;
    this.levels = levels;
  }
}

/** `return` from a function. */
export class ReturnFunction extends Error {
  override readonly name = 'ReturnFunction';
  readonly code: number;

  constructor(code: number) {
    super(`return ${code}`);
    this.code = code & 0xff;
  }
}
