import {
  addQuantities,
  compareQuantities,
  compileGoPattern,
  deepEqual,
  isQuantity,
  parseQuantity,
  type Quantity,
  quantityToNumber,
  subtractQuantities,
} from '@asterism/machinery';
import type { Environment } from '@marcbachmann/cel-js';

const QUANTITY = 'kubernetes.Quantity';
const UNIT = 1_000_000_000n;
const MAX_INT = 2n ** 63n;

type Ordered = bigint | number | string | boolean | Date;

/**
 * What Kubernetes' expressions know beside CEL's own functions, as far as it is served here: texts, lists, regular
 * expressions (in Go's syntax and linear time) and quantities.
 * https://kubernetes.io/docs/reference/using-api/cel/#cel-options-language-features-and-libraries
 */
export function registerLibrary(environment: Environment): void {
  const define = (signature: string, handler: (...values: never[]) => unknown): void => {
    environment.registerFunction(signature, handler, { async: false });
  };
  registerTexts(define);
  registerLists(define);
  environment.registerType(QUANTITY, { ctor: CelQuantity, fields: {} });
  registerQuantities(define);
}

type Define = (signature: string, handler: (...values: never[]) => unknown) => void;

function registerTexts(define: Define): void {
  define('string.charAt(int): string', (text: string, at: bigint) => {
    const characters = Array.from(text);
    if (at < 0n || at > BigInt(characters.length)) throw new Error(`index out of range: ${at}`);
    return characters[Number(at)] ?? '';
  });
  define('string.replace(string, string): string', (text: string, old: string, now: string) =>
    text.replaceAll(old, () => now),
  );
  define('string.replace(string, string, int): string', (text: string, old: string, now: string, count: bigint) => {
    const parts = text.split(old);
    const times = count < 0n ? parts.length - 1 : Math.min(Number(count), parts.length - 1);
    return [parts.slice(0, times + 1).join(now), ...parts.slice(times + 1)].join(old);
  });
  define('string.reverse(): string', (text: string) => Array.from(text).toReversed().join(''));
  define('string.find(string): string', (text: string, pattern: string) => findAll(text, pattern, 1)[0] ?? '');
  define('string.findAll(string): list<string>', (text: string, pattern: string) => findAll(text, pattern, -1));
  define('string.findAll(string, int): list<string>', (text: string, pattern: string, limit: bigint) =>
    findAll(text, pattern, Number(limit)),
  );
}

function patternOf(text: string): NonNullable<ReturnType<typeof compileGoPattern>['pattern']> {
  const { pattern, error } = compileGoPattern(text);
  if (pattern === undefined) throw new Error(error);
  return pattern;
}

/** Whether a text has a part that the pattern describes. */
export function goMatches(text: string, pattern: string): boolean {
  return patternOf(pattern).matcher(text).find();
}

function findAll(text: string, pattern: string, limit: number): string[] {
  const matcher = patternOf(pattern).matcher(text);
  const found: string[] = [];
  while (found.length !== limit && matcher.find()) found.push(matcher.group() ?? '');
  return found;
}

function registerLists(define: Define): void {
  define('list<dyn>.isSorted(): bool', (list: Ordered[]) =>
    list.every((each, at) => at === 0 || list[at - 1]! <= each),
  );
  define('list<dyn>.min(): dyn', (list: Ordered[]) => extreme(list, 'min', (a, b) => a < b));
  define('list<dyn>.max(): dyn', (list: Ordered[]) => extreme(list, 'max', (a, b) => a > b));
  define('list<dyn>.sum(): dyn', (list: (bigint | number)[]) => {
    if (list.every((each) => typeof each === 'bigint')) return list.reduce((sum, each) => sum + each, 0n);
    return list.reduce((sum: number, each) => sum + Number(each), 0);
  });
  define('list<dyn>.indexOf(dyn): int', (list: unknown[], value: unknown) =>
    BigInt(list.findIndex((each) => deepEqual(each, value))),
  );
  define('list<dyn>.lastIndexOf(dyn): int', (list: unknown[], value: unknown) =>
    BigInt(list.findLastIndex((each) => deepEqual(each, value))),
  );
}

function extreme(list: Ordered[], name: string, isBetter: (a: Ordered, b: Ordered) => boolean): Ordered {
  const [first, ...others] = list;
  if (first === undefined) throw new Error(`${name} called on empty list`);
  return others.reduce((best, each) => (isBetter(each, best) ? each : best), first);
}

/** A quantity as expressions hold it. */
class CelQuantity {
  readonly value: Quantity;

  constructor(value: Quantity) {
    this.value = value;
  }
}

function registerQuantities(define: Define): void {
  define(`quantity(string): ${QUANTITY}`, (text: string) => new CelQuantity(parseQuantity(text)));
  define('isQuantity(string): bool', (text: string) => isQuantity(text));
  define(`${QUANTITY}.isInteger(): bool`, ({ value }: CelQuantity) => isInteger(value));
  define(`${QUANTITY}.asInteger(): int`, ({ value }: CelQuantity) => {
    if (!isInteger(value)) throw new Error('cannot convert value to integer');
    return value.nanos / UNIT;
  });
  define(`${QUANTITY}.asApproximateFloat(): double`, ({ value }: CelQuantity) => quantityToNumber(value));
  define(`${QUANTITY}.sign(): int`, ({ value }: CelQuantity) => signOf(value.nanos));
  define(`${QUANTITY}.compareTo(${QUANTITY}): int`, (a: CelQuantity, b: CelQuantity) =>
    BigInt(Math.sign(compareQuantities(a.value, b.value))),
  );
  define(
    `${QUANTITY}.isLessThan(${QUANTITY}): bool`,
    (a: CelQuantity, b: CelQuantity) => a.value.nanos < b.value.nanos,
  );
  define(
    `${QUANTITY}.isGreaterThan(${QUANTITY}): bool`,
    (a: CelQuantity, b: CelQuantity) => a.value.nanos > b.value.nanos,
  );
  define(
    `${QUANTITY}.add(${QUANTITY}): ${QUANTITY}`,
    (a: CelQuantity, b: CelQuantity) => new CelQuantity(addQuantities(a.value, b.value)),
  );
  define(
    `${QUANTITY}.sub(${QUANTITY}): ${QUANTITY}`,
    (a: CelQuantity, b: CelQuantity) => new CelQuantity(subtractQuantities(a.value, b.value)),
  );
}

function isInteger({ nanos }: Quantity): boolean {
  const whole = nanos / UNIT;
  return nanos % UNIT === 0n && whole < MAX_INT && whole >= -MAX_INT;
}

function signOf(nanos: bigint): bigint {
  return nanos === 0n ? 0n : nanos < 0n ? -1n : 1n;
}
