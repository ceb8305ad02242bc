import type { CelFault } from './cel-fault.ts';
import type { CallExpression, Expression, LoopExpression } from './expression.ts';

/** The variable of a loop that holds what has been found so far. */
export const ACCUMULATOR = '@result';
const UNUSED = '#unused';
const SORTED = '@__sortBy_input__';

export interface MacroCall {
  name: string;
  target: Expression | undefined;
  args: Expression[];
  at: number;
}

type Expanded = { expression: Expression } | { fault: CelFault };

/** Makes the expressions that a macro is replaced by, all of them at the place of the macro. */
class Builder {
  readonly at: number;

  constructor(at: number) {
    this.at = at;
  }

  literal(value: boolean | bigint): Expression {
    return { kind: 'literal', at: this.at, value };
  }

  ident(name: string): Expression {
    return { kind: 'ident', at: this.at, name };
  }

  get accumulator(): Expression {
    return this.ident(ACCUMULATOR);
  }

  call(name: string, ...args: Expression[]): Expression {
    return { kind: 'call', at: this.at, name, target: undefined, args };
  }

  method(name: string, target: Expression, ...args: Expression[]): Expression {
    return { kind: 'call', at: this.at, name, target, args };
  }

  list(...elements: Expression[]): Expression {
    return { kind: 'list', at: this.at, elements, optional: new Set() };
  }

  map(): Expression {
    return { kind: 'map', at: this.at, entries: [] };
  }

  loop(parts: Partial<LoopExpression> & Pick<LoopExpression, 'range' | 'variable' | 'init' | 'step'>): Expression {
    const condition = parts.condition ?? this.literal(true);
    const result = parts.result ?? this.accumulator;
    const { range, variable, variable2, init, step, accumulator = ACCUMULATOR } = parts;
    return { kind: 'loop', at: this.at, range, variable, variable2, accumulator, init, condition, step, result };
  }

  /** `result` with a variable that is `value`. */
  bind(name: string, value: Expression, result: Expression): Expression {
    const step = this.ident(name);
    const condition = this.literal(false);
    return this.loop({ range: this.list(), variable: UNUSED, accumulator: name, init: value, condition, step, result });
  }
}

interface Iteration {
  build: Builder;
  range: Expression;
  variable: string;
  variable2: string | undefined;
  /** The arguments after the variables. */
  args: readonly Expression[];
}

type Expand = (iteration: Iteration) => Expression;

function quantifier(init: boolean): Expand {
  return ({ build, args: [predicate], ...loop }) => {
    const accumulator = init ? build.accumulator : build.call('!_', build.accumulator);
    const condition = build.call('@not_strictly_false', accumulator);
    const step = build.call(init ? '_&&_' : '_||_', build.accumulator, predicate!);
    return build.loop({ ...loop, init: build.literal(init), condition, step });
  };
}

const existsOne: Expand = ({ build, args: [predicate], ...loop }) => {
  const more = build.call('_+_', build.accumulator, build.literal(1n));
  const step = build.call('_?_:_', predicate!, more, build.accumulator);
  const result = build.call('_==_', build.accumulator, build.literal(1n));
  return build.loop({ ...loop, init: build.literal(0n), step, result });
};

/** The accumulator grows by `add` for elements that the first of two arguments is true for. */
function collect(init: (build: Builder) => Expression, add: (build: Builder, value: Expression) => Expression): Expand {
  return ({ build, args, ...loop }) => {
    const more = add(build, args.at(-1)!);
    const step = args.length > 1 ? build.call('_?_:_', args[0]!, more, build.accumulator) : more;
    return build.loop({ ...loop, init: init(build), step });
  };
}

const toList = collect(
  (build) => build.list(),
  (build, value) => build.call('_+_', build.accumulator, build.list(value)),
);

const filter: Expand = (iteration) =>
  toList({ ...iteration, args: [...iteration.args, iteration.build.ident(iteration.variable)] });

const toMap: Expand = (iteration) => {
  const insert = (build: Builder, value: Expression): Expression =>
    build.call('cel.@mapInsert', build.accumulator, build.ident(iteration.variable), value);
  return collect((build) => build.map(), insert)(iteration);
};

const toEntries = collect(
  (build) => build.map(),
  (build, entry) => build.call('cel.@mapInsert', build.accumulator, entry),
);

const sortBy: Expand = ({ build, range, variable, args: [key] }) => {
  const keys = toList({ build, range: build.ident(SORTED), variable, variable2: undefined, args: [key!] });
  return build.bind(SORTED, range, build.method('@sortByAssociatedKeys', build.ident(SORTED), keys));
};

/** By name and number of arguments: how many variables come first, and what it is replaced by. */
const ITERATIONS = new Map<string, [variables: 1 | 2, expand: Expand]>([
  ['all/2', [1, quantifier(true)]],
  ['exists/2', [1, quantifier(false)]],
  ['exists_one/2', [1, existsOne]],
  ['map/2', [1, toList]],
  ['map/3', [1, toList]],
  ['filter/2', [1, filter]],
  ['sortBy/2', [1, sortBy]],
  ['all/3', [2, quantifier(true)]],
  ['exists/3', [2, quantifier(false)]],
  ['existsOne/3', [2, existsOne]],
  ['exists_one/3', [2, existsOne]],
  ['transformList/3', [2, toList]],
  ['transformList/4', [2, toList]],
  ['transformMap/3', [2, toMap]],
  ['transformMap/4', [2, toMap]],
  ['transformMapEntry/3', [2, toEntries]],
  ['transformMapEntry/4', [2, toEntries]],
]);

/** Expands a macro. Returns undefined for any other call. */
export function expandMacro(call: MacroCall): Expanded | undefined {
  const { name, target, args, at } = call;
  const build = new Builder(at);
  if (!target) return name === 'has' && args.length === 1 ? expandHas(args[0]!, at) : undefined;
  if (args.length === 2 && (name === 'optMap' || name === 'optFlatMap'))
    return expandOptional(build, name, target, args);
  const [variables, expand] = ITERATIONS.get(`${name}/${args.length}`) ?? [];
  if (!variables || !expand) return undefined;
  const names: string[] = [];
  for (const argument of args.slice(0, variables)) {
    if (argument.kind !== 'ident') return faultAt(argument, 'argument must be a simple name');
    if (argument.name === ACCUMULATOR) return faultAt(argument, 'iteration variable overwrites accumulator variable');
    if (names.includes(argument.name)) return faultAt(argument, `duplicate variable name: ${argument.name}`);
    names.push(argument.name);
  }
  const [variable, variable2] = names as [string, string?];
  return { expression: expand({ build, range: target, variable, variable2, args: args.slice(variables) }) };
}

function expandHas(argument: Expression, at: number): Expanded {
  if (argument.kind !== 'select' || argument.testOnly) return faultAt(argument, 'invalid argument to has() macro');
  return { expression: { ...argument, at, testOnly: true } };
}

/** The target is evaluated twice, as in cel-go. */
function expandOptional(build: Builder, name: string, target: Expression, args: readonly Expression[]): Expanded {
  const [variable, mapped] = args as [Expression, Expression];
  if (variable.kind !== 'ident') return faultAt(variable, `${name}() variable name must be a simple identifier`);
  const bound = build.bind(variable.name, build.method('value', target), mapped);
  const some = name === 'optMap' ? build.call('optional.of', bound) : bound;
  return {
    expression: build.call(
      '_?_:_',
      build.method('hasValue', target),
      some,
      build.call('optional.none') as CallExpression,
    ),
  };
}

function faultAt({ at }: Expression, message: string): Expanded {
  return { fault: { at, message } };
}
