import type { CelFault } from '../syntax/cel-fault.ts';
import {
  type CallExpression,
  type Expression,
  type ListExpression,
  type LoopExpression,
  type MapExpression,
  qualifiedName,
  type SelectExpression,
} from '../syntax/expression.ts';
import { CelUint, type Literal } from '../values/value.ts';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DYN,
  ERROR,
  formatType,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  typeOf,
  UINT,
} from './cel-type.ts';
import type { Functions, Overload } from './overload.ts';
import { TypeUnifier } from './type-unifier.ts';

/** The meaning of names in an expression. */
export interface Declarations {
  functions: Functions;
  variables: ReadonlyMap<string, CelType>;
  /** Types by the names that expressions know them by. */
  types: ReadonlyMap<string, CelType>;
}

/** A call as it has been understood: `sets.contains(a, b)` has no receiver. */
export interface ResolvedCall {
  name: string;
  args: readonly Expression[];
  overloads: readonly Overload[];
}

/** The types of an expression and of all expressions within it. */
export interface CheckedTypes {
  types: ReadonlyMap<Expression, CelType>;
  calls: ReadonlyMap<CallExpression, ResolvedCall>;
  /** Selections that are the name of a variable or a type. */
  names: ReadonlyMap<Expression, string>;
}

export type Checked = { checked: CheckedTypes; faults?: undefined } | { checked?: undefined; faults: CelFault[] };

/** Finds the types of an expression and of all within it. The faults are in the words of cel-go's checker. */
export function checkTypes(root: Expression, declarations: Declarations): Checked {
  const checker = new Checker(declarations);
  checker.check(root);
  return checker.faults.length > 0 ? { faults: checker.faults } : { checked: checker.result() };
}

class Checker {
  readonly faults: CelFault[] = [];
  readonly #unifier = new TypeUnifier();
  readonly #declarations: Declarations;
  readonly #types = new Map<Expression, CelType>();
  readonly #calls = new Map<CallExpression, ResolvedCall>();
  readonly #names = new Map<Expression, string>();
  /** The variables of loops, the innermost last. */
  readonly #scopes: ReadonlyMap<string, CelType>[] = [];

  constructor(declarations: Declarations) {
    this.#declarations = declarations;
  }

  result(): CheckedTypes {
    const types = new Map([...this.#types].map(([node, type]) => [node, this.#unifier.resolve(type, true)] as const));
    return { types, calls: this.#calls, names: this.#names };
  }

  check(expression: Expression): CelType {
    const known = this.#types.get(expression);
    if (known) return known;
    const type = this.#typeOf(expression);
    this.#types.set(expression, type);
    return type;
  }

  #fault(at: number, message: string): CelType {
    this.faults.push({ at, message });
    return ERROR;
  }

  #shown(type: CelType): string {
    return formatType(this.#unifier.resolve(type, true));
  }

  #undeclared(at: number, name: string): CelType {
    return this.#fault(at, `undeclared reference to '${name}' (in container '')`);
  }

  #expectType(expression: Expression, found: CelType, expected: CelType): void {
    if (this.#unifier.assign(found, expected)) return;
    this.#mismatch(expression, expected, found);
  }

  #mismatch({ at }: Expression, expected: CelType, found: CelType): void {
    this.#fault(at, `expected type '${this.#shown(expected)}' but found '${this.#shown(found)}'`);
  }

  #typeOf(expression: Expression): CelType {
    switch (expression.kind) {
      case 'literal':
        return literalType(expression.value);
      case 'ident':
        return this.#named(expression.name) ?? this.#undeclared(expression.at, expression.name);
      case 'select':
        return this.#select(expression);
      case 'call':
        return this.#call(expression);
      case 'list':
        return this.#list(expression);
      case 'map':
        return this.#map(expression);
      case 'struct':
        for (const value of expression.values) this.check(value);
        return this.#undeclared(expression.at, expression.name);
      default:
        return this.#loop(expression);
    }
  }

  #named(name: string): CelType | undefined {
    for (let index = this.#scopes.length - 1; index >= 0; index--) {
      const type = this.#scopes[index]!.get(name);
      if (type) return type;
    }
    const variable = this.#declarations.variables.get(name);
    if (variable) return variable;
    const type = this.#declarations.types.get(name);
    return type && typeOf(type);
  }

  #select(expression: SelectExpression): CelType {
    const { operand, field, testOnly, at } = expression;
    const name = qualifiedName(expression);
    const named = name === undefined ? undefined : this.#named(name);
    if (named) {
      this.#names.set(expression, name!);
      return named;
    }
    const type = this.#field(this.check(operand), field, at, false);
    return testOnly ? BOOL : type;
  }

  /** The type of a field. That of a field of an optional is optional. */
  #field(operandType: CelType, field: string, at: number, optional: boolean): CelType {
    const operand = this.#unifier.resolve(operandType);
    if (operand.kind === 'optional') return optionalOf(this.#fieldOf(operand.of, field, at));
    const type = this.#fieldOf(operand, field, at);
    return optional ? optionalOf(type) : type;
  }

  #fieldOf(unresolved: CelType, field: string, at: number): CelType {
    const type = this.#unifier.resolve(unresolved);
    switch (type.kind) {
      case 'map':
        return type.value;
      case 'object':
        return type.fields.get(field)?.type ?? this.#fault(at, `undefined field '${field}'`);
      case 'param':
        this.#unifier.assign(DYN, type);
        return DYN;
      case 'dyn':
      case 'error':
        return DYN;
      default:
        this.#fault(at, `type '${this.#shown(type)}' does not support field selection`);
        return DYN;
    }
  }

  #call(expression: CallExpression): CelType {
    const { name, target, args, at } = expression;
    if (name === '_?._' && !target) {
      const [operand, field] = args as [Expression, Expression & { kind: 'literal' }];
      this.check(field);
      this.#calls.set(expression, { name, args, overloads: [] });
      return this.#field(this.check(operand), field.value as string, at, true);
    }
    const { functions } = this.#declarations;
    const prefix = target && qualifiedName(target);
    const qualified = prefix === undefined ? undefined : `${prefix}.${name}`;
    if (qualified !== undefined && functions.has(qualified)) return this.#resolve(expression, qualified, args, false);
    if (!target) return this.#resolve(expression, name, args, false);
    return this.#resolve(expression, name, [target, ...args], true);
  }

  #resolve(expression: CallExpression, name: string, args: readonly Expression[], isMethod: boolean): CelType {
    const types = args.map((argument) => this.check(argument));
    const declared = this.#declarations.functions.get(name);
    if (!declared) return this.#undeclared(expression.at, name);
    if (name === '_&&_' || name === '_||_') {
      for (const [index, argument] of args.entries()) this.#expectType(argument, types[index]!, BOOL);
      this.#calls.set(expression, { name, args, overloads: declared });
      return BOOL;
    }
    let result: CelType | undefined;
    const overloads: Overload[] = [];
    for (const overload of declared) {
      if (overload.isMethod !== isMethod || overload.params.length !== types.length) continue;
      const fresh = new Map<string, CelType>();
      const params = overload.params.map((param) => this.#unifier.instantiate(param, fresh));
      if (!this.#unifier.assignAll(types, params)) continue;
      overloads.push(overload);
      const found = this.#unifier.resolve(this.#unifier.instantiate(overload.result, fresh));
      if (result && formatType(result) !== formatType(found)) result = DYN;
      else result = found;
    }
    this.#calls.set(expression, { name, args, overloads });
    return result ?? this.#noOverload(expression.at, name, types, isMethod);
  }

  #noOverload(at: number, name: string, types: readonly CelType[], isMethod: boolean): CelType {
    const shown = types.map((type) => this.#shown(type));
    const applied = isMethod ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`;
    return this.#fault(at, `found no matching overload for '${name}' applied to '${applied}'`);
  }

  #list({ elements, optional }: ListExpression): CelType {
    let type: CelType | undefined;
    for (const [index, element] of elements.entries()) {
      type = this.#join(type, this.#element(element, optional.has(index)));
    }
    return listOf(type ?? this.#unifier.freshParam());
  }

  #element(element: Expression, isOptional: boolean): CelType {
    const type = this.#unifier.resolve(this.check(element));
    if (!isOptional) return type;
    if (type.kind === 'optional') return type.of;
    if (type.kind !== 'dyn' && type.kind !== 'error') this.#mismatch(element, optionalOf(type), type);
    return type;
  }

  /** The type of values of two types: `dyn` if they have nothing in common. */
  #join(previous: CelType | undefined, type: CelType): CelType {
    if (!previous) return type;
    return this.#unifier.assign(type, previous) ? this.#unifier.mostGeneral(previous, type) : DYN;
  }

  #map({ entries }: MapExpression): CelType {
    let key: CelType | undefined;
    let value: CelType | undefined;
    for (const entry of entries) {
      key = this.#join(key, this.#keyType(entry.key));
      value = this.#join(value, this.#element(entry.value, entry.optional));
    }
    return mapOf(key ?? this.#unifier.freshParam(), value ?? this.#unifier.freshParam());
  }

  /** Maps within keys are refused: they could make types of exponential size. */
  #keyType(key: Expression): CelType {
    const type = this.#unifier.resolve(this.check(key));
    const shown = formatType(type);
    return shown.includes('map(') ? this.#fault(key.at, `unsupported key type: ${shown}`) : type;
  }

  #loop(expression: LoopExpression): CelType {
    const { range, variable, variable2, accumulator, init, condition, step, result } = expression;
    const [first, second] = this.#rangeTypes(range, variable2 !== undefined);
    const accumulated = this.check(init);
    this.#scopes.push(new Map([[accumulator, accumulated]]));
    this.#scopes.push(new Map([[variable, first], ...(variable2 === undefined ? [] : [[variable2, second] as const])]));
    this.#expectType(condition, this.check(condition), BOOL);
    this.#expectType(step, this.check(step), accumulated);
    this.#scopes.pop();
    const type = this.check(result);
    this.#scopes.pop();
    return this.#unifier.resolve(type);
  }

  /** Of the variables of a loop: elements or keys; with two variables the index or the key, and the value. */
  #rangeTypes(range: Expression, hasTwo: boolean): [CelType, CelType] {
    const type = this.#unifier.resolve(this.check(range));
    switch (type.kind) {
      case 'list':
        return hasTwo ? [INT, type.element] : [type.element, DYN];
      case 'map':
        return [type.key, type.value];
      case 'param':
        this.#unifier.assign(DYN, type);
        return [DYN, DYN];
      case 'dyn':
      case 'error':
        return [DYN, DYN];
      default: {
        const message = `expression of type '${this.#shown(type)}' cannot be range of a comprehension (must be list, map, or dynamic)`;
        this.#fault(range.at, message);
        return [ERROR, ERROR];
      }
    }
  }
}

function literalType(value: Literal): CelType {
  switch (typeof value) {
    case 'string':
      return STRING;
    case 'bigint':
      return INT;
    case 'number':
      return DOUBLE;
    case 'boolean':
      return BOOL;
    default:
  }
  if (value === null) return NULL;
  return value instanceof CelUint ? UINT : BYTES;
}
