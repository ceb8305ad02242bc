import { compileGoPattern } from '@asterism/machinery';
import type { CheckedTypes } from '../typing/checker.ts';
import { formatType } from '../typing/cel-type.ts';
import type {
  CallExpression,
  Expression,
  IdentExpression,
  ListExpression,
  LoopExpression,
  MapExpression,
} from '../syntax/expression.ts';
import { costOfCall } from '../cost/call-cost.ts';
import { LiteralMap } from '../values/literal-map.ts';
import { CelOptional, CelTypeValue, fail, isList, type Value } from '../values/value.ts';
import { logical, notStrictlyFalse } from './logic.ts';
import { selectMember } from './select-member.ts';
import { visitRange } from './visit-range.ts';
import { dispatch } from './dispatch.ts';
import { Meter } from './meter.ts';

const LIST_COST = 10;
const MAP_COST = 30;

/** The variables of one evaluation. */
export interface Frame {
  variable(name: string): Value | undefined;
  /** Those of loops, by their depth. */
  locals: Value[];
  meter: Meter;
}

/** Fails with a `CelFailure`, or ends with `CostExceeded`. */
export type Evaluate = (frame: Frame) => Value;

/** An expression ready to be evaluated. */
interface Plan {
  evaluate: Evaluate;
  /** Its value, if it is the same in each evaluation. */
  constant?: Value;
  /** As a part of a longer path, and as a branch of `?:`, a path costs 1 less than alone. */
  unpaid?: Evaluate;
}

/** Makes an expression of closures, which evaluate several times as fast as a walk over its nodes. */
export function planEvaluation(root: Expression, checked: CheckedTypes): Evaluate {
  return new Planner(checked).plan(root).evaluate;
}

const constantPlan = (constant: Value): Plan => ({ evaluate: () => constant, constant });

/** A path that costs 1 in addition to its parts. */
function pathPlan(unpaid: Evaluate): Plan {
  return {
    unpaid,
    evaluate: (frame) => {
      frame.meter.charge(1);
      return unpaid(frame);
    },
  };
}

/** The start of a path: a part of a path is continued, of anything else a new one begins. */
function pathStart({ unpaid, evaluate }: Plan): Evaluate {
  return unpaid ?? evaluate;
}

class Planner {
  readonly #checked: CheckedTypes;
  /** Conversions of constants are charged here. */
  readonly #folding = new Meter(Number.POSITIVE_INFINITY);
  readonly #planned = new Map<Expression, Plan>();
  /** Names of the variables of loops: their index is their place in the frame. */
  readonly #locals: string[] = [];

  constructor(checked: CheckedTypes) {
    this.#checked = checked;
  }

  plan(expression: Expression): Plan {
    const known = this.#planned.get(expression);
    if (known) return known;
    const plan = this.#plan(expression);
    this.#planned.set(expression, plan);
    return plan;
  }

  #plan(expression: Expression): Plan {
    switch (expression.kind) {
      case 'literal':
        return constantPlan(expression.value);
      case 'ident':
        return this.#ident(expression);
      case 'select': {
        const name = this.#checked.names.get(expression);
        if (name !== undefined) return this.#named(name, expression);
        return this.#select(expression.operand, expression.field, expression.testOnly);
      }
      case 'call':
        return this.#call(expression);
      case 'list':
        return this.#list(expression);
      case 'map':
        return this.#map(expression);
      case 'loop':
        return { evaluate: this.#loop(expression) };
      default:
        throw new Error(`cannot evaluate ${expression.kind}`);
    }
  }

  #ident(expression: IdentExpression): Plan {
    const local = this.#locals.lastIndexOf(expression.name);
    if (local >= 0) return pathPlan(({ locals }) => locals[local]!);
    return this.#named(expression.name, expression);
  }

  #named(name: string, expression: Expression): Plan {
    const type = this.#checked.types.get(expression);
    if (type?.kind === 'type') return constantPlan(new CelTypeValue(type.of ? typeName(formatType(type.of)) : 'type'));
    return pathPlan((frame) => {
      const value = frame.variable(name);
      return value === undefined ? fail(`no such attribute(s): ${name}`) : value;
    });
  }

  #select(operand: Expression, field: string, testOnly: boolean): Plan {
    const start = pathStart(this.plan(operand));
    if (testOnly) {
      return {
        evaluate: (frame) => {
          const value = selectMember(start(frame), field, 'presence');
          return value instanceof CelOptional ? value.value !== undefined : value !== undefined;
        },
      };
    }
    return pathPlan((frame) => {
      const value = start(frame);
      frame.meter.charge(1);
      return selectMember(value, field, 'required')!;
    });
  }

  #index(operand: Expression, index: Expression, optional: boolean): Plan {
    const start = pathStart(this.plan(operand));
    const key = pathStart(this.plan(index));
    const mode = optional ? 'optional' : 'required';
    return pathPlan((frame) => {
      const value = start(frame);
      const at = key(frame);
      frame.meter.charge(1);
      return selectMember(value, at, mode)!;
    });
  }

  #call(expression: CallExpression): Plan {
    const { name, args, overloads } = this.#checked.calls.get(expression)!;
    const [first, second, third] = args as [Expression, Expression, Expression];
    switch (name) {
      case '_&&_':
      case '_||_':
        return { evaluate: logical(this.plan(first).evaluate, this.plan(second).evaluate, name === '_||_') };
      case '_?_:_':
        return this.#conditional(first, second, third);
      case '_?._':
      case '_[?_]':
        return this.#index(first, second, true);
      case '_[_]':
        return this.#index(first, second, false);
      case '@not_strictly_false':
        return { evaluate: notStrictlyFalse(this.plan(first).evaluate) };
      case 'or':
      case 'orValue':
        if (overloads[0]?.id.startsWith('optional_')) return { evaluate: this.#orElse(name, first, second) };
        break;
      default:
    }
    const parts = args.map((argument) => this.plan(argument));
    const [part, other] = parts;
    if (CONVERSIONS.has(name) && parts.length === 1 && part!.constant !== undefined) {
      const call = dispatch(name, overloads, [part!.constant], this.#folding);
      return constantPlan(call.result);
    }
    if (name === '@in' && isList(other?.constant ?? null) && isPlainSet(other!.constant as readonly Value[])) {
      return { evaluate: this.#member(part!.evaluate, other!.constant as readonly Value[]) };
    }
    if ((name === 'find' || name === 'findAll') && typeof other?.constant === 'string') {
      const { error } = compileGoPattern(other.constant);
      if (error !== undefined) fail(error);
    }
    const evaluates = parts.map(({ evaluate }) => evaluate);
    return {
      evaluate: (frame) => {
        const values = evaluates.map((evaluate) => evaluate(frame));
        const { id, result } = dispatch(name, overloads, values, frame.meter);
        frame.meter.charge(costOfCall({ name, id, args: values, result, meter: frame.meter }));
        return result;
      },
    };
  }

  /** `x in ['a', 'b']`, which costs nothing. */
  #member(element: Evaluate, list: readonly Value[]): Evaluate {
    const set = new Set(list);
    return (frame) => {
      const value = element(frame);
      return set.has(value) || (typeof value === 'number' && Number.isInteger(value) && set.has(BigInt(value)));
    };
  }

  /** A path of which one branch is a part. */
  #conditional(condition: Expression, yes: Expression, no: Expression): Plan {
    const test = this.plan(condition).evaluate;
    const [ifTrue, ifFalse] = [pathStart(this.plan(yes)), pathStart(this.plan(no))];
    const evaluate: Evaluate = (frame) => {
      const value = test(frame);
      if (typeof value !== 'boolean') fail('no such overload');
      return value ? ifTrue(frame) : ifFalse(frame);
    };
    return { evaluate, unpaid: evaluate };
  }

  /** `orValue` and `or` evaluate their argument only if it is needed. */
  #orElse(name: string, target: Expression, other: Expression): Evaluate {
    const [evaluate, otherwise] = [this.plan(target).evaluate, this.plan(other).evaluate];
    return (frame) => {
      const value = evaluate(frame);
      if (!(value instanceof CelOptional)) fail(`no such overload: ${name}`);
      if (value.value !== undefined) return name === 'or' ? value : value.value;
      return otherwise(frame);
    };
  }

  #list({ elements, optional }: ListExpression): Plan {
    const plans = elements.map((element) => this.plan(element));
    if (optional.size === 0 && plans.every(({ constant }) => constant !== undefined)) {
      return constantPlan(plans.map(({ constant }) => constant!));
    }
    return {
      evaluate: (frame) => {
        const values: Value[] = [];
        for (const [index, { evaluate }] of plans.entries()) {
          const value = evaluate(frame);
          if (!optional.has(index)) values.push(value);
          else if (!(value instanceof CelOptional))
            fail('cannot initialize optional list element from non-optional value');
          else if (value.value !== undefined) values.push(value.value);
        }
        frame.meter.charge(LIST_COST);
        return values;
      },
    };
  }

  #map({ entries }: MapExpression): Plan {
    const plans = entries.map(({ key, value, optional }) => ({
      key: this.plan(key),
      value: this.plan(value),
      optional,
    }));
    const build = (frame: Frame | undefined): LiteralMap => {
      const map = new LiteralMap();
      for (const { key, value, optional } of plans) {
        const name = frame ? key.evaluate(frame) : key.constant!;
        const member = frame ? value.evaluate(frame) : value.constant!;
        if (!optional) map.insert(name, member);
        else if (!(member instanceof CelOptional)) fail('cannot initialize optional entry from non-optional value');
        else if (member.value !== undefined) map.insert(name, member.value);
      }
      return map;
    };
    if (plans.every(({ key, value, optional }) => isKey(key.constant) && value.constant !== undefined && !optional)) {
      return constantPlan(build(undefined));
    }
    return {
      evaluate: (frame) => {
        const map = build(frame);
        frame.meter.charge(MAP_COST);
        return map;
      },
    };
  }

  #loop(expression: LoopExpression): Evaluate {
    const { range, variable, variable2, accumulator, init, condition, step, result } = expression;
    const elements = this.plan(range).evaluate;
    const start = this.plan(init).evaluate;
    const at = this.#locals.push(accumulator) - 1;
    this.#locals.push(variable, variable2 ?? '');
    const goesOn = this.plan(condition).evaluate;
    const next = this.#step(step, init, accumulator, at);
    this.#locals.length = at + 1;
    const end = this.plan(result).evaluate;
    this.#locals.length = at;
    const isBinding = range.kind === 'list' && range.elements.length === 0;
    return (frame) => {
      const { locals } = frame;
      const over = elements(frame);
      const begin = start(frame);
      // Loops add to these instead of copying them for each element.
      locals[at] = isBinding ? begin : ownCopy(begin);
      visitRange(over, variable2 !== undefined, (first, second) => {
        locals[at + 1] = first;
        locals[at + 2] = second;
        if (goesOn(frame) !== true) return false;
        locals[at] = next(frame);
        return true;
      });
      return end(frame);
    };
  }

  /** `accumulator + [value]` and an insertion change what the accumulator holds. */
  #step(step: Expression, init: Expression, accumulator: string, at: number): Evaluate {
    if (step.kind === 'call' && step.name === '_?_:_' && (init.kind === 'list' || init.kind === 'map')) {
      const [condition, yes] = step.args as [Expression, Expression];
      const test = this.plan(condition).evaluate;
      const add = this.#step(yes, init, accumulator, at);
      return (frame) => {
        const value = test(frame);
        if (typeof value !== 'boolean') fail('no such overload');
        return value ? add(frame) : frame.locals[at]!;
      };
    }
    if (init.kind !== 'list' || step.kind !== 'call' || step.name !== '_+_') return this.plan(step).evaluate;
    const [, added] = step.args as [Expression, ListExpression];
    const element = this.plan(added.elements[0]!);
    const costs = element.constant === undefined ? LIST_COST + 2 : 2;
    return (frame) => {
      frame.meter.charge(1);
      const value = element.evaluate(frame);
      (frame.locals[at] as Value[]).push(value);
      frame.meter.charge(costs - 1);
      return frame.locals[at]!;
    };
  }
}

const CONVERSIONS = new Set([
  'bool',
  'bytes',
  'double',
  'duration',
  'dyn',
  'int',
  'string',
  'timestamp',
  'type',
  'uint',
]);

function typeName(formatted: string): string {
  const open = formatted.indexOf('(');
  const name = open < 0 ? formatted : formatted.slice(0, open);
  return (
    { timestamp: 'google.protobuf.Timestamp', duration: 'google.protobuf.Duration', null: 'null_type' }[name] ?? name
  );
}

function isPlainSet(list: readonly Value[]): boolean {
  return (
    list.length > 0 &&
    list.every((each) => typeof each === typeof list[0] && /^(?:string|bigint|boolean)$/.test(typeof each))
  );
}

/** A key that each map may have. */
function isKey(value: Value | undefined): boolean {
  return value !== undefined && value !== null && typeof value !== 'number' && !isList(value);
}

function ownCopy(value: Value): Value {
  if (isList(value)) return [...value];
  return value instanceof LiteralMap ? new LiteralMap() : value;
}
