import { ACCUMULATOR } from '../syntax/expand-macro.ts';
import type { CallExpression, Expression, LoopExpression, SelectExpression } from '../syntax/expression.ts';
import type { CelType } from '../typing/cel-type.ts';
import type { CheckedTypes } from '../typing/checker.ts';
import { CelUint, type Literal } from '../values/value.ts';
import { add, exactly, multiply, type Range, union, UNKNOWN } from './cost-range.ts';
import { type Argument, type CallEstimate, estimateCall } from './estimate-call.ts';

const LIST_COST = 10;
const MAP_COST = 30;
const STRUCT_COST = 40;
const SCALARS = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint']);

/** `['self', 'a', '@items']`: where a value is in a variable. Empty for one that is in none. */
type Path = readonly string[];

/** The largest size of the value at a path, if it is known. */
export type SizeAt = (path: Path) => number | undefined;

/** Sizes of the keys and the values of a list or a map. */
interface EntrySize {
  isList: boolean;
  key: Range;
  value: Range;
}

interface LocalVariable {
  path: Path;
  size: Range | undefined;
  entry: EntrySize | undefined;
}

/** Estimates the cost of an expression exactly as cel-go does. Kubernetes refuses rules that can cost too much. */
export function estimateCost(root: Expression, checked: CheckedTypes, sizeAt: SizeAt): Range {
  return new Estimator(checked, sizeAt).cost(root);
}

class Estimator {
  readonly #checked: CheckedTypes;
  readonly #sizeAt: SizeAt;
  readonly #costs = new Map<Expression, Range>();
  readonly #paths = new Map<Expression, Path>();
  readonly #sizes = new Map<Expression, Range>();
  readonly #entries = new Map<Expression, EntrySize>();
  readonly #locals = new Map<string, LocalVariable[]>();

  constructor(checked: CheckedTypes, sizeAt: SizeAt) {
    this.#checked = checked;
    this.#sizeAt = sizeAt;
  }

  cost(expression: Expression): Range {
    const known = this.#costs.get(expression);
    if (known) return known;
    const cost = this.#cost(expression);
    this.#costs.set(expression, cost);
    return cost;
  }

  #cost(expression: Expression): Range {
    switch (expression.kind) {
      case 'literal':
        return exactly(0);
      case 'ident':
        this.#paths.set(expression, this.#local(expression.name)?.path ?? [expression.name]);
        return exactly(1);
      case 'select':
        return this.#select(expression);
      case 'call':
        return this.#call(expression);
      case 'list': {
        const sizes = expression.elements.map((element) => [this.cost(element), this.#sizeOf(element)] as const);
        this.#entries.set(expression, { isList: true, key: exactly(1), value: unionOf(sizes.map(([, size]) => size)) });
        return add(...sizes.map(([cost]) => cost), exactly(LIST_COST));
      }
      case 'map': {
        const costs = expression.entries.flatMap(({ key, value }) => [this.cost(key), this.cost(value)]);
        const key = unionOf(expression.entries.map((entry) => this.#sizeOf(entry.key)));
        const value = unionOf(expression.entries.map((entry) => this.#sizeOf(entry.value)));
        this.#entries.set(expression, { isList: false, key, value });
        return add(...costs, exactly(MAP_COST));
      }
      case 'struct':
        return add(...expression.values.map((value) => this.cost(value)), exactly(STRUCT_COST));
      default:
        return isBinding(expression) ? this.#binding(expression) : this.#loop(expression);
    }
  }

  #select(expression: SelectExpression): Range {
    const { operand, field, testOnly } = expression;
    const name = this.#checked.names.get(expression);
    if (name !== undefined) {
      this.#paths.set(expression, [name]);
      return exactly(1);
    }
    const cost = this.cost(operand);
    if (testOnly) return cost;
    this.#paths.set(expression, [...this.#path(operand), field]);
    const { kind } = this.#type(operand);
    return kind === 'map' || kind === 'object' ? add(cost, exactly(1)) : cost;
  }

  #call(expression: CallExpression): Range {
    const { name, args, overloads } = this.#checked.calls.get(expression)!;
    const costs = args.map((argument) => this.cost(argument));
    if (name === 'dyn') {
      this.#copySizes(expression, args[0]!);
      return add(exactly(1), costs[0]!);
    }
    if (name === '_&&_' || name === '_||_') {
      return { min: costs[0]!.min, max: costs[0]!.max + costs[1]!.max };
    }
    if (name === '_?_:_') return this.#conditional(expression, args, costs);
    const isMethod = overloads[0]?.isMethod === true;
    const described = args.map((argument) => this.#describe(argument));
    const [target, others] = isMethod ? [described[0], described.slice(1)] : [undefined, described];
    let total: CallEstimate | undefined;
    for (const { id } of overloads.length > 0 ? overloads : [{ id: name }]) {
      const estimate = estimateCall(name, id, target, others);
      const size = this.#indexed(expression, id, args) ?? estimate.size;
      total = total
        ? { cost: union(total.cost, estimate.cost), ...both(total.size, size) }
        : { ...estimate, ...(size ? { size } : {}) };
    }
    if (name === '_+_') this.#joinEntries(expression, args);
    if (total?.size) this.#sizes.set(expression, total.size);
    return add(...costs, total!.cost);
  }

  /** Of an element of a list or a map the path is known, and perhaps the size. */
  #indexed(expression: Expression, overload: string, args: readonly Expression[]): Range | undefined {
    if (overload !== 'index_list' && overload !== 'index_map') return undefined;
    const [of] = args as [Expression];
    this.#paths.set(expression, [...this.#path(of), overload === 'index_list' ? '@items' : '@values']);
    return this.#entry(of)?.value;
  }

  #conditional(expression: Expression, args: readonly Expression[], costs: readonly Range[]): Range {
    const [, yes, no] = args as [Expression, Expression, Expression];
    this.#sizes.set(expression, union(this.#sizeOf(yes), this.#sizeOf(no)));
    this.#joinEntries(expression, [yes, no]);
    return add(costs[0]!, union(costs[1]!, costs[2]!));
  }

  #joinEntries(expression: Expression, [first, second]: readonly Expression[]): void {
    const [a, b] = [this.#entry(first!), this.#entry(second!)];
    if (a && b) {
      this.#entries.set(expression, { isList: a.isList, key: union(a.key, b.key), value: union(a.value, b.value) });
    }
  }

  #binding(expression: LoopExpression): Range {
    const { range, accumulator, init, result } = expression;
    const cost = add(this.cost(range), this.cost(init));
    this.#push(accumulator, { path: this.#path(init), size: this.#size(init), entry: this.#entry(init) });
    const total = add(cost, this.cost(result));
    this.#pop(accumulator);
    this.#copySizes(expression, result);
    return total;
  }

  #loop(expression: LoopExpression): Range {
    const { range, variable, variable2, accumulator, init, condition, step, result } = expression;
    const begin = add(this.cost(range), this.cost(init));
    this.#push(accumulator, { path: this.#path(init), size: this.#size(init), entry: this.#entry(init) });
    const entry = this.#entry(range);
    const isList = entry?.isList ?? this.#type(range).kind === 'list';
    const part = (path: string, size: Range | undefined): LocalVariable => ({
      path: [...this.#path(range), path],
      size,
      entry: undefined,
    });
    const keys = part(isList ? '@indices' : '@keys', entry?.key);
    const values = part(isList ? '@items' : '@values', entry?.value);
    this.#push(variable, variable2 === undefined && isList ? values : keys);
    if (variable2 !== undefined) this.#push(variable2, values);
    const each = add(this.cost(condition), this.cost(step));
    this.#pop(variable);
    if (variable2 !== undefined) this.#pop(variable2);
    const end = this.cost(result);
    this.#pop(accumulator);
    const count = this.#sizeOf(range);
    const collected = init.kind === 'list' || init.kind === 'map';
    const size = collected ? count : this.#size(init);
    if (size) this.#sizes.set(expression, size);
    const stepEntry = collected ? this.#entry(step) : undefined;
    if (stepEntry) this.#entries.set(expression, stepEntry);
    return add(begin, end, multiply(count, each));
  }

  #type(expression: Expression): CelType {
    return this.#checked.types.get(expression)!;
  }

  #local(name: string): LocalVariable | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  #push(name: string, variable: LocalVariable): void {
    this.#locals.set(name, [...(this.#locals.get(name) ?? []), variable]);
  }

  #pop(name: string): void {
    this.#locals.get(name)!.pop();
  }

  #path(expression: Expression): Path {
    const local = expression.kind === 'ident' ? this.#local(expression.name) : undefined;
    return local?.path ?? this.#paths.get(expression) ?? [];
  }

  #entry(expression: Expression): EntrySize | undefined {
    const local = expression.kind === 'ident' ? this.#local(expression.name) : undefined;
    return this.#entries.get(expression) ?? local?.entry;
  }

  #sizeOf(expression: Expression): Range {
    return this.#size(expression) ?? UNKNOWN;
  }

  #size(expression: Expression): Range | undefined {
    const known = this.#sizes.get(expression) ?? literalSize(expression);
    if (known) return known;
    const max = this.#pathSize(this.#path(expression));
    if (max) {
      this.#sizes.set(expression, max);
      return max;
    }
    if (isScalar(this.#type(expression))) return exactly(1);
    return expression.kind === 'ident' ? this.#local(expression.name)?.size : undefined;
  }

  #pathSize(path: Path): Range | undefined {
    const max = path.length === 0 ? undefined : this.#sizeAt(path);
    return max === undefined ? undefined : { min: 0, max };
  }

  #copySizes(to: Expression, from: Expression): void {
    const size = this.#size(from);
    const entry = this.#entry(from);
    if (size) this.#sizes.set(to, size);
    if (entry) this.#entries.set(to, entry);
  }

  #describe(expression: Expression): Argument {
    const path = this.#path(expression);
    const elements = path.length === 0 || path[0] === ACCUMULATOR ? undefined : this.#pathSize([...path, '@items']);
    return {
      expression,
      type: this.#type(expression),
      size: this.#sizeOf(expression),
      elementSize: elements ?? UNKNOWN,
    };
  }
}

function isBinding({ range, condition, accumulator }: LoopExpression): boolean {
  const isEmpty = range.kind === 'list' && range.elements.length === 0;
  return isEmpty && condition.kind === 'literal' && condition.value === false && accumulator !== ACCUMULATOR;
}

function unionOf(sizes: readonly Range[]): Range {
  return sizes.length === 0 ? exactly(0) : sizes.reduce(union);
}

function both(a: Range | undefined, b: Range | undefined): { size?: Range } {
  const size = a && b ? union(a, b) : (a ?? b);
  return size ? { size } : {};
}

function literalSize(expression: Expression): Range | undefined {
  switch (expression.kind) {
    case 'literal':
      return exactly(sizeOfLiteral(expression.value));
    case 'list':
      return exactly(expression.elements.length);
    case 'map':
      return exactly(expression.entries.length);
    default:
      return undefined;
  }
}

function sizeOfLiteral(value: Literal): number {
  if (typeof value === 'string') return Array.from(value).length;
  return typeof value === 'object' && value !== null && !(value instanceof CelUint) ? value.length : 1;
}

function isScalar(type: CelType): boolean {
  return type.kind === 'optional' ? isScalar(type.of) : SCALARS.has(type.kind);
}
