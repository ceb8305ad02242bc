import type { Meter } from '../evaluate/meter.ts';
import type { Value } from '../values/value.ts';
import type { CelType } from './cel-type.ts';

/** One form of a function: for these types of arguments. Those of a method begin with the receiver's. */
export interface Overload {
  /** cel-go's name of it, by which the cost of some is known. */
  id: string;
  isMethod: boolean;
  params: readonly CelType[];
  result: CelType;
  run(args: readonly Value[], meter: Meter): Value;
}

/** The overloads of each function by its name; operators are functions too. */
export type Functions = ReadonlyMap<string, readonly Overload[]>;

export type Run = (args: never, meter: Meter) => Value;

/** Collects functions. */
export class FunctionLibrary {
  readonly functions = new Map<string, Overload[]>();

  /** `run` gets values of the kinds of `params`: the evaluator has checked them. */
  define(name: string, id: string, params: readonly CelType[], result: CelType, run: Run): void {
    this.#add(name, { id, isMethod: false, params, result, run: run as unknown as Overload['run'] });
  }

  /** The first of `params` is the receiver. */
  method(name: string, id: string, params: readonly CelType[], result: CelType, run: Run): void {
    this.#add(name, { id, isMethod: true, params, result, run: run as unknown as Overload['run'] });
  }

  #add(name: string, overload: Overload): void {
    const overloads = this.functions.get(name);
    if (overloads) overloads.push(overload);
    else this.functions.set(name, [overload]);
  }
}
