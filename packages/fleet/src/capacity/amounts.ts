import { formatQuantity, milliValue, parseQuantity, quantityToNumber } from '@asterism/machinery';

/**
 * Amounts by resource, as a scheduler counts: thousandths of cpu, whole units of all else, each rounded up. Numbers, since
 * 100,000 pods are added up at once; exact to 2⁵³, which is 9 PB.
 */
export type Amounts = Readonly<Record<string, number>>;

type ResourceList = Readonly<Record<string, string | number>>;

const NANOS_IN_MILLI = 1_000_000n;
const NANOS = 1_000_000_000n;

/** Resources that people write in powers of 1024. */
const BINARY = /^(memory|storage|ephemeral-storage|hugepages-.*)$/;

export function readAmount(resource: string, quantity: string | number): number {
  const parsed = parseQuantity(quantity);
  return resource === 'cpu' ? milliValue(parsed) : Math.ceil(quantityToNumber(parsed));
}

export function readAmounts(list: ResourceList | undefined): Record<string, number> {
  return Object.fromEntries(Object.entries(list ?? {}).map(([name, quantity]) => [name, readAmount(name, quantity)]));
}

/** Adds `more` to `sum`, which it changes. */
export function addAmounts(sum: Record<string, number>, more: Amounts): void {
  for (const name in more) sum[name] = (sum[name] ?? 0) + (more[name] ?? 0);
}

/** The larger of the two of each resource. */
export function largerAmounts(a: Amounts, b: Amounts): Record<string, number> {
  const larger: Record<string, number> = { ...a };
  for (const [name, amount] of Object.entries(b)) larger[name] = Math.max(larger[name] ?? 0, amount);
  return larger;
}

export function formatAmount(resource: string, amount: number): string {
  const whole = BigInt(Math.round(amount));
  if (resource === 'cpu') return formatQuantity({ nanos: whole * NANOS_IN_MILLI, format: 'DecimalSI' });
  const binary = BINARY.test(resource) && amount % 1024 === 0;
  return formatQuantity({ nanos: whole * NANOS, format: binary ? 'BinarySI' : 'DecimalSI' });
}

/** As quantities, by name; undefined where there are none. */
export function formatAmounts(amounts: Amounts): Record<string, string> | undefined {
  const names = Object.keys(amounts).sort();
  if (names.length === 0) return undefined;
  return Object.fromEntries(names.map((name) => [name, formatAmount(name, amounts[name] ?? 0)]));
}
