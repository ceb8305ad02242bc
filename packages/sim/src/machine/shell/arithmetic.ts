import type { ArithmeticBinary, ArithmeticExpression, ArithmeticUnary } from 'unbash';
import type { Shell } from './shell.ts';
import { ShellError } from './shell-error.ts';

const OPERATIONS: Readonly<Record<string, (a: number, b: number) => number>> = {
  '*': (a, b) => a * b,
  '/': (a, b) => Math.trunc(divide(a, b)),
  '%': (a, b) => a - b * Math.trunc(divide(a, b)),
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '<': (a, b) => Number(a < b),
  '<=': (a, b) => Number(a <= b),
  '>': (a, b) => Number(a > b),
  '>=': (a, b) => Number(a >= b),
  '==': (a, b) => Number(a === b),
  '!=': (a, b) => Number(a !== b),
};

function divide(a: number, b: number): number {
  if (b === 0) throw new ShellError('divide by zero');
  return a / b;
}

/** The value of an expression between `$((` and `))`. */
export async function evaluate(shell: Shell, expression: ArithmeticExpression): Promise<number> {
  switch (expression.type) {
    case 'ArithmeticGroup':
      return evaluate(shell, expression.expression);
    case 'ArithmeticTernary':
      return evaluate(shell, (await evaluate(shell, expression.test)) ? expression.consequent : expression.alternate);
    case 'ArithmeticUnary':
      return evaluateUnary(shell, expression);
    case 'ArithmeticBinary':
      return evaluateBinary(shell, expression);
    case 'ArithmeticWord':
      return numberOf(shell, expression.parts ? await shell.expand(expression) : expression.value);
    case 'ArithmeticCommandExpansion':
      return numberOf(shell, expression.script ? await shell.substitute(expression.script) : '');
  }
}

/** A number, or the number in the variable of that name. */
function numberOf(shell: Shell, text: string): number {
  const name = /^\$?([A-Za-z_]\w*)$/.exec(text)?.[1] ?? /^\$(.)$/.exec(text)?.[1];
  const digits = (name === undefined ? text : (shell.get(name) ?? '')).trim();
  const value = /^0[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number(digits);
  if (!Number.isInteger(value)) throw new ShellError('arithmetic syntax error');
  return value;
}

async function evaluateUnary(shell: Shell, { operator, operand, prefix }: ArithmeticUnary): Promise<number> {
  const value = await evaluate(shell, operand);
  if (operator === '++' || operator === '--') {
    const next = value + (operator === '++' ? 1 : -1);
    assign(shell, operand, next);
    return prefix ? next : value;
  }
  return operator === '-' ? -value : operator === '!' ? Number(value === 0) : value;
}

async function evaluateBinary(shell: Shell, { operator, left, right }: ArithmeticBinary): Promise<number> {
  if (operator === '=') return assign(shell, left, await evaluate(shell, right));
  const first = await evaluate(shell, left);
  if (operator === '&&') return Number(first !== 0 && (await evaluate(shell, right)) !== 0);
  if (operator === '||') return Number(first !== 0 || (await evaluate(shell, right)) !== 0);
  const assigned = /^(.*[^=<>!])=$/.exec(operator)?.[1];
  const operation = OPERATIONS[assigned ?? operator];
  if (!operation) throw new ShellError('arithmetic syntax error');
  const value = operation(first, await evaluate(shell, right));
  return assigned === undefined ? value : assign(shell, left, value);
}

function assign(shell: Shell, target: ArithmeticExpression, value: number): number {
  if (target.type !== 'ArithmeticWord') throw new ShellError('arithmetic syntax error');
  shell.set(target.value, String(value));
  return value;
}
