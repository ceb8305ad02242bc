import { CostExceeded, Meter } from './evaluate/meter.ts';
import { type Evaluate, planEvaluation } from './evaluate/plan.ts';
import { AnswerNeeded } from './library/authorizer.ts';
import { describeFaults } from './syntax/cel-fault.ts';
import { parseExpression } from './syntax/parser.ts';
import type { CelType } from './typing/cel-type.ts';
import { checkLiterals } from './typing/check-literals.ts';
import { type CheckedTypes, checkTypes, type Declarations } from './typing/checker.ts';
import { CelFailure, type Value } from './values/value.ts';
import type { Expression } from './syntax/expression.ts';

/** The variables of an expression by name. */
export type CelVariables = ReadonlyMap<string, Value>;

export type CompiledProgram = { program: CelProgram; fault?: undefined } | { program?: undefined; fault: string };

/** Compiles an expression; the fault is what upstream says of it: `compilation failed: ERROR: …`. */
export function compileProgram(text: string, declarations: Declarations): CompiledProgram {
  const { root, faults } = parseExpression(text);
  if (!root) return failed(describeFaults(faults, text));
  const types = checkTypes(root, declarations);
  if (!types.checked) return failed(describeFaults(types.faults, text));
  const literals = checkLiterals(root, types.checked);
  if (literals.length > 0) return failed(describeFaults(literals, text));
  try {
    return { program: new CelProgram(root, types.checked) };
  } catch (error) {
    if (!(error instanceof CelFailure)) throw error;
    return { fault: `program instantiation failed: ${error.message}` };
  }
}

function failed(faults: string): CompiledProgram {
  return { fault: `compilation failed: ${faults}` };
}

/** An expression that is compiled, and may be evaluated often. */
export class CelProgram {
  readonly root: Expression;
  readonly checked: CheckedTypes;
  readonly #evaluate: Evaluate;

  constructor(root: Expression, checked: CheckedTypes) {
    this.root = root;
    this.checked = checked;
    this.#evaluate = planEvaluation(root, checked);
  }

  get type(): CelType {
    return this.checked.types.get(this.root)!;
  }

  /**
   * @param limit the cost at which the evaluation ends, in cel-go's units.
   * @returns the value and the cost of one evaluation, after answers of the authorizer have been waited for.
   * @throws Error with the failure of the expression in cel-go's words, or {@link CostExceeded}.
   */
  async evaluate(variables: CelVariables, limit: number): Promise<{ value: Value; cost: number }> {
    for (;;) {
      try {
        return this.evaluateNow(variables, limit);
      } catch (error) {
        if (!(error instanceof AnswerNeeded)) throw error;
        await error.answer;
      }
    }
  }

  /** Like {@link evaluate}, where no expression asks the authorizer. */
  evaluateNow(variables: CelVariables, limit: number): { value: Value; cost: number } {
    const meter = new Meter(limit);
    try {
      const value = this.#evaluate({ variable: (name) => variables.get(name), locals: [], meter });
      return { value, cost: meter.cost };
    } catch (error) {
      if (error instanceof CelFailure) throw new Error(error.message);
      throw error;
    }
  }
}

export { CostExceeded };
