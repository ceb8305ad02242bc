import type { Literal } from '../values/value.ts';

interface Node {
  /** Where the expression is reported: the offset in the text of its operator, its parenthesis or its first character. */
  at: number;
}

export interface LiteralExpression extends Node {
  kind: 'literal';
  value: Literal;
}

export interface IdentExpression extends Node {
  kind: 'ident';
  name: string;
}

/** `operand.field`; with `testOnly` it is `has(operand.field)`. */
export interface SelectExpression extends Node {
  kind: 'select';
  operand: Expression;
  field: string;
  testOnly: boolean;
}

/** A function or an operator. Of a member call the receiver is `target`. */
export interface CallExpression extends Node {
  kind: 'call';
  name: string;
  target: Expression | undefined;
  args: Expression[];
}

/** An entry with `?` before it is left out where its value is an empty optional. */
export interface ListExpression extends Node {
  kind: 'list';
  elements: Expression[];
  optional: ReadonlySet<number>;
}

export interface MapEntry extends Node {
  key: Expression;
  value: Expression;
  optional: boolean;
}

export interface MapExpression extends Node {
  kind: 'map';
  entries: MapEntry[];
}

/** `Name{field: value}`. */
export interface StructExpression extends Node {
  kind: 'struct';
  name: string;
  values: Expression[];
}

/** The loop that a macro is expanded to. `variable2` is set in loops over keys and values. */
export interface LoopExpression extends Node {
  kind: 'loop';
  range: Expression;
  variable: string;
  variable2: string | undefined;
  accumulator: string;
  init: Expression;
  condition: Expression;
  step: Expression;
  result: Expression;
}

export type Expression =
  | LiteralExpression
  | IdentExpression
  | SelectExpression
  | CallExpression
  | ListExpression
  | MapExpression
  | StructExpression
  | LoopExpression;

/** `a.b.c` of a chain of selections, or undefined if the expression is something else. */
export function qualifiedName(expression: Expression): string | undefined {
  if (expression.kind === 'ident') return expression.name;
  if (expression.kind !== 'select' || expression.testOnly) return undefined;
  const prefix = qualifiedName(expression.operand);
  return prefix === undefined ? undefined : `${prefix}.${expression.field}`;
}

/** The expressions directly within one. */
export function partsOf(expression: Expression): Expression[] {
  switch (expression.kind) {
    case 'select':
      return [expression.operand];
    case 'call':
      return expression.target ? [expression.target, ...expression.args] : expression.args;
    case 'list':
      return expression.elements;
    case 'map':
      return expression.entries.flatMap(({ key, value }) => [key, value]);
    case 'struct':
      return expression.values;
    case 'loop': {
      const { range, init, condition, step, result } = expression;
      return [range, init, condition, step, result];
    }
    default:
      return [];
  }
}

/** The expression and all within it, each once: macros use some expressions twice. */
export function allWithin(root: Expression): Set<Expression> {
  const found = new Set<Expression>([root]);
  for (const expression of found) for (const part of partsOf(expression)) found.add(part);
  return found;
}
