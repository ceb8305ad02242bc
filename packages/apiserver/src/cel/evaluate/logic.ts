import { CelFailure, fail, type Value } from '../values/value.ts';
import type { Evaluate } from './plan.ts';

/** An error of one operand does not count if the other decides. */
export function logical(left: Evaluate, right: Evaluate, decides: boolean): Evaluate {
  return (frame) => {
    let failure: CelFailure | undefined;
    for (const operand of [left, right]) {
      try {
        const value = operand(frame);
        if (value === decides) return decides;
        if (typeof value !== 'boolean') fail('no such overload');
      } catch (error) {
        if (!(error instanceof CelFailure)) throw error;
        failure ??= error;
      }
    }
    if (failure) throw failure;
    return !decides;
  };
}

export function notStrictlyFalse(operand: Evaluate): Evaluate {
  return (frame) => {
    let value: Value = true;
    try {
      value = operand(frame);
    } catch (error) {
      if (!(error instanceof CelFailure)) throw error;
    }
    frame.meter.charge(1);
    return value !== false;
  };
}
