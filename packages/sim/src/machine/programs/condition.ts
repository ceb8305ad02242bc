import { type Program, type Task, UsageError } from '../task.ts';
import { sizeOf } from './files.ts';

/** `test EXPRESSION` and `[ EXPRESSION ]`. */
export const TEST_PROGRAMS: Readonly<Record<string, Program>> = {
  test: (task, args) => Number(!holds(task, args)),
  '[': (task, args) => {
    if (args.at(-1) !== ']') throw new UsageError('missing ]', 2);
    return Number(!holds(task, args.slice(0, -1)));
  },
};

const COMPARISONS: Readonly<Record<string, (a: string, b: string) => boolean>> = {
  '=': (a, b) => a === b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
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

/** Without parentheses: `-o` binds weaker than `-a`, and that weaker than `!`. */
function holds(task: Task, args: readonly string[]): boolean {
  const [first = '', second = '', third = ''] = args;
  const compare = COMPARISONS[second];
  if (args.length === 3 && compare) return compare(first, third);
  for (const operator of ['-o', '-a']) {
    const at = args.indexOf(operator, 1);
    if (at < 0 || at === args.length - 1) continue;
    const sides = [args.slice(0, at), args.slice(at + 1)];
    return operator === '-o' ? sides.some((side) => holds(task, side)) : sides.every((side) => holds(task, side));
  }
  if (args.length <= 1) return first !== '';
  if (first === '!') return !holds(task, args.slice(1));
  if (args.length > 2) throw new UsageError(`${second}: unknown operand`, 2);
  return unary(task, first, second);
}

function unary(task: Task, operator: string, operand: string): boolean {
  if (operator === '-n') return operand !== '';
  if (operator === '-z') return operand === '';
  if (operator === '-t') return task.streams.stdin.terminal !== undefined;
  const node = operand === '' ? undefined : task.machine.files.find(task.path(operand));
  switch (operator) {
    case '-e':
    case '-r':
      return node !== undefined;
    case '-f':
      return node?.kind === 'file';
    case '-d':
      return node?.kind === 'directory';
    case '-s':
      return node !== undefined && sizeOf(node) > 0;
    case '-x':
      return node !== undefined && (node.mode & 0o111) !== 0;
    case '-w':
      return node !== undefined && !('readOnly' in node && node.readOnly);
    default:
      throw new UsageError(`${operator}: unknown operand`, 2);
  }
}
