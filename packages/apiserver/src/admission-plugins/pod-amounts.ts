import { addQuantities, compareQuantities, parseQuantity, type Quantity } from '@asterism/machinery';
import { type Fields, listAt, optionalFields } from '../kinds/fields/draft-fields.ts';

/** Amounts by the name of their resource. */
export type Amounts = ReadonlyMap<string, Quantity>;

/** Resources of which a pod may say itself how much it needs in all (KEP-2837). */
const OF_WHOLE_PODS = /^(cpu|memory|hugepages-.*)$/;

/** The amounts in the map at `key`. */
export function amountsAt(parent: Fields | undefined, key: string): Map<string, Quantity> {
  const amounts = new Map<string, Quantity>();
  for (const [name, text] of Object.entries(optionalFields(parent, key) ?? {})) {
    if (typeof text === 'string' || typeof text === 'number') amounts.set(name, parseQuantity(text));
  }
  return amounts;
}

/** `a` and `b` together. */
export function addAmounts(a: Amounts, b: Amounts): Map<string, Quantity> {
  const sum = new Map(a);
  for (const [name, amount] of b) {
    const before = sum.get(name);
    sum.set(name, before === undefined ? amount : addQuantities(before, amount));
  }
  return sum;
}

/**
 * What a pod requests, or is limited to, as the scheduler counts it: all containers with those init containers that go on running,
 * or more where an earlier init container needs more, and its overhead. What the pod says as a whole counts instead.
 */
export function podAmounts(spec: Fields, list: 'requests' | 'limits'): Map<string, Quantity> {
  const of = (container: Fields): Amounts => amountsAt(optionalFields(container, 'resources'), list);
  let running: Map<string, Quantity> = new Map();
  for (const container of listAt(spec, 'containers')) running = addAmounts(running, of(container));
  let sidecars: Map<string, Quantity> = new Map();
  let starting: Map<string, Quantity> = new Map();
  for (const container of listAt(spec, 'initContainers')) {
    const own = addAmounts(sidecars, of(container));
    if (container.restartPolicy === 'Always') {
      running = addAmounts(running, of(container));
      sidecars = own;
    }
    starting = atLeast(starting, own);
  }
  const amounts = atLeast(running, starting);
  for (const [name, amount] of amountsAt(optionalFields(spec, 'resources'), list)) {
    if (OF_WHOLE_PODS.test(name)) amounts.set(name, amount);
  }
  const overhead = amountsAt(spec, 'overhead');
  if (list === 'requests') return addAmounts(amounts, overhead);
  for (const [name, amount] of overhead) {
    const before = amounts.get(name);
    // Without a limit there is none that the overhead could raise.
    if (before !== undefined && before.nanos !== 0n) amounts.set(name, addQuantities(before, amount));
  }
  return amounts;
}

function atLeast(a: Amounts, b: Amounts): Map<string, Quantity> {
  const larger = new Map(a);
  for (const [name, amount] of b) {
    const before = larger.get(name);
    if (before === undefined || compareQuantities(amount, before) > 0) larger.set(name, amount);
  }
  return larger;
}
