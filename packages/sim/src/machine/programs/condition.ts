import { type Program, type Task, UsageError } from '../task.ts';

/** `test EXPRESSION` and `[ EXPRESSION ]`. */
export const TEST_PROGRAMS: Readonly<Record<string, Program>> = {
  test: (task, args) => Number(!new Condition(task, args).whole()),
  '[': (task, args) => {
    if (args.at(-1) !== ']') throw new UsageError('missing ]', 2);
    return Number(!new Condition(task, args.slice(0, -1)).whole());
  },
};

const COMPARISONS: Readonly<Record<string, (a: string, b: string) => boolean>> = {
  '=': (a, b) => a === b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '>': (a, b) => a > b,
  '-eq': (a, b) => integer(a) === integer(b),
  '-ne': (a, b) => integer(a) !== integer(b),
  '-lt': (a, b) => integer(a) < integer(b),
  '-le': (a, b) => integer(a) <= integer(b),
  '-gt': (a, b) => integer(a) > integer(b),
  '-ge': (a, b) => integer(a) >= integer(b),
};

function integer(text: string): number {
  if (!/^\s*[-+]?\d+\s*$/.test(text)) throw new UsageError(`${text}: bad number`, 2);
  return Number(text);
}

class Condition {
  readonly #task: Task;
  readonly #args: readonly string[];
  #at = 0;

  constructor(task: Task, args: readonly string[]) {
    this.#task = task;
    this.#args = args;
  }

  whole(): boolean {
    if (this.#args.length === 0) return false;
    const result = this.#or();
    if (this.#at < this.#args.length) throw new UsageError(`${this.#args[this.#at]}: unknown operand`, 2);
    return result;
  }

  #or(): boolean {
    let result = this.#and();
    while (this.#args[this.#at] === '-o') {
      this.#at += 1;
      const right = this.#and();
      result ||= right;
    }
    return result;
  }

  #and(): boolean {
    let result = this.#not();
    while (this.#args[this.#at] === '-a') {
      this.#at += 1;
      const right = this.#not();
      result &&= right;
    }
    return result;
  }

  #not(): boolean {
    const [first, second, third] = this.#args.slice(this.#at);
    const compare = second === undefined || third === undefined ? undefined : this.#comparison(second);
    if (compare && first !== undefined && third !== undefined) {
      this.#at += 3;
      return compare(first, third);
    }
    if (first === '!' && second !== undefined) {
      this.#at += 1;
      return !this.#not();
    }
    if (first === '(' && this.#args.includes(')', this.#at)) {
      this.#at += 1;
      const result = this.#or();
      this.#at += 1;
      return result;
    }
    if (first !== undefined && second !== undefined && /^-[a-zA-Z]$/.test(first) && !/^-[ao]$/.test(second)) {
      this.#at += 2;
      return this.#unary(first, second);
    }
    this.#at += 1;
    return first !== undefined && first !== '';
  }

  #comparison(operator: string): ((a: string, b: string) => boolean) | undefined {
    if (operator !== '-nt' && operator !== '-ot') return COMPARISONS[operator];
    const modified = (path: string): number => this.#task.machine.files.find(this.#task.path(path))?.modified ?? 0;
    return (a, b) => (operator === '-nt' ? modified(a) > modified(b) : modified(a) < modified(b));
  }

  #unary(operator: string, operand: string): boolean {
    if (operator === '-n') return operand !== '';
    if (operator === '-z') return operand === '';
    if (operator === '-t') return this.#task.streams.stdin.terminal !== undefined;
    const link = operator === '-L' || operator === '-h';
    const node = operand === '' ? undefined : this.#task.machine.files.find(this.#task.path(operand), !link);
    switch (operator) {
      case '-e':
      case '-r':
        return node !== undefined;
      case '-f':
        return node?.kind === 'file';
      case '-d':
        return node?.kind === 'directory';
      case '-L':
      case '-h':
        return node?.kind === 'link';
      case '-c':
        return node?.kind === 'device';
      case '-s':
        return node?.kind === 'directory' || (node?.kind === 'file' && node.content.size > 0);
      case '-x':
        return node !== undefined && (node.kind === 'directory' || (node.mode & 0o111) !== 0);
      case '-w':
        return node !== undefined && !('readOnly' in node && node.readOnly);
      case '-b':
      case '-p':
      case '-S':
        return false;
    }
    throw new UsageError(`${operator}: unknown operand`, 2);
  }
}
