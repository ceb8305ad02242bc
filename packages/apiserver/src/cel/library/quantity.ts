import {
  addQuantities,
  isQuantity,
  parseQuantity,
  type Quantity,
  quantityToNumber,
  subtractQuantities,
} from '@asterism/machinery';
import { BOOL, DOUBLE, INT, opaqueType, STRING } from '../typing/cel-type.ts';
import type { FunctionLibrary } from '../typing/overload.ts';
import { CelOpaque, fail, type Value } from '../values/value.ts';

export const QUANTITY = opaqueType('kubernetes.Quantity');
const UNIT = 1_000_000_000n;
const MAX_INT = 2n ** 63n;

class CelQuantity extends CelOpaque {
  readonly type = QUANTITY;
  readonly quantity: Quantity;
  /** It is written without a fraction: only such quantities are integers for Kubernetes. */
  readonly #isWhole: boolean;

  constructor(quantity: Quantity, isWhole = true) {
    super();
    this.quantity = quantity;
    this.#isWhole = isWhole;
  }

  get nanos(): bigint {
    return this.quantity.nanos;
  }

  get isInteger(): boolean {
    const whole = this.nanos / UNIT;
    return this.#isWhole && this.nanos % UNIT === 0n && whole < MAX_INT && whole >= -MAX_INT;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelQuantity && other.nanos === this.nanos;
  }
}

/** Kubernetes' quantities: `quantity('1.5Gi')`. */
export function defineQuantities(library: FunctionLibrary): void {
  type One = readonly [CelQuantity];
  const method = library.method.bind(library);
  library.define('quantity', 'string_to_quantity', [STRING], QUANTITY, ([text]: readonly [string]) => read(text));
  library.define('isQuantity', 'is_quantity_string', [STRING], BOOL, ([text]: readonly [string]) => isQuantity(text));
  method('isInteger', 'quantity_is_integer', [QUANTITY], BOOL, ([quantity]: One) => quantity.isInteger);
  method('asInteger', 'quantity_as_integer', [QUANTITY], INT, ([quantity]: One) =>
    quantity.isInteger ? quantity.nanos / UNIT : fail('cannot convert value to integer'),
  );
  method('asApproximateFloat', 'quantity_as_float', [QUANTITY], DOUBLE, ([{ quantity }]: One) =>
    quantityToNumber(quantity),
  );
  method('sign', 'quantity_sign', [QUANTITY], INT, ([quantity]: One) => orderOf(quantity.nanos, 0n));
  type Two = readonly [CelQuantity, CelQuantity | bigint];
  const changed =
    (change: typeof addQuantities) =>
    ([quantity, by]: Two): Value =>
      new CelQuantity(
        change(quantity.quantity, typeof by === 'bigint' ? { nanos: by * UNIT, format: 'DecimalSI' } : by.quantity),
      );
  for (const [name, change] of [
    ['add', addQuantities],
    ['sub', subtractQuantities],
  ] as const) {
    method(name, `quantity_${name}`, [QUANTITY, QUANTITY], QUANTITY, changed(change));
    method(name, `quantity_${name}_int`, [QUANTITY, INT], QUANTITY, changed(change));
  }
  type Pair = readonly [CelQuantity, CelQuantity];
  method('isLessThan', 'quantity_is_less_than', [QUANTITY, QUANTITY], BOOL, ([a, b]: Pair) => a.nanos < b.nanos);
  method('isGreaterThan', 'quantity_is_greater_than', [QUANTITY, QUANTITY], BOOL, ([a, b]: Pair) => a.nanos > b.nanos);
  method('compareTo', 'quantity_compare_to', [QUANTITY, QUANTITY], INT, ([a, b]: Pair) => orderOf(a.nanos, b.nanos));
}

function read(text: string): CelQuantity {
  try {
    const quantity = parseQuantity(text);
    // Larger amounts are cut to the largest integer.
    const isCut = quantity.nanos / UNIT === MAX_INT - 1n && text !== String(MAX_INT - 1n);
    return new CelQuantity(quantity, !isCut && !/[.num]/.test(text));
  } catch (error) {
    return fail((error as Error).message);
  }
}

function orderOf(a: bigint, b: bigint): bigint {
  return a < b ? -1n : a > b ? 1n : 0n;
}
