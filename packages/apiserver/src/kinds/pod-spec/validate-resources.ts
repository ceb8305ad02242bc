import { compareQuantities, parseQuantity, type Quantity, type ResourceRequirements } from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import { NOT_NEGATIVE } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { validateDnsLabel } from '../validation/validate-text.ts';
import { isHugePages, isOvercommitAllowed, isWholeResource } from './resource-names.ts';

/** The quantities of a `ResourceList`, which decoding has left in their canonical texts. */
export type ResourceList = Readonly<Record<string, string | number>>;

const MILLI = 1_000_000n;
const UNIT = 1_000_000_000n;

/** `ValidateResourceQuantityValue`. */
export function validateQuantity(name: string, text: string | number, at: FieldPath, faults: Faults): Quantity {
  const quantity = parseQuantity(text);
  if (quantity.nanos < 0n) faults.invalid(at, String(text), NOT_NEGATIVE);
  if (isWholeResource(name) && quantity.nanos % UNIT !== 0n) faults.invalid(at, String(text), 'must be an integer');
  return quantity;
}

/** `validateResourceRequirements`; `validateName` says which resources there may be. */
export function validateResources(
  { limits, requests, claims }: ResourceRequirements,
  at: FieldPath,
  rules: {
    validateName(name: string, at: FieldPath, faults: Faults): void;
    claimNames: ReadonlySet<string>;
  },
  faults: Faults,
): void {
  let withComputing = false;
  let withHugePages = false;
  const limited = new Map<string, Quantity>();
  const look = (name: string, text: string | number, list: string): Quantity => {
    const place = at.child(list).key(name);
    rules.validateName(name, place, faults);
    const quantity = validateQuantity(name, text, place, faults);
    if (name === 'cpu' || name === 'memory') withComputing = true;
    withHugePages ||= isHugePages(name);
    return quantity;
  };
  for (const [name, text] of sorted(limits)) {
    limited.set(name, look(name, text, 'limits'));
    if (isHugePages(name)) validateHugePages(name, text, at.child('limits').key(name), faults);
  }
  for (const [name, text] of sorted(requests)) {
    const quantity = look(name, text, 'requests');
    const limit = limited.get(name);
    const free = isOvercommitAllowed(name);
    const difference = limit ? compareQuantities(quantity, limit) : 0;
    if (!limit) {
      if (!free) faults.required(at.child('limits'), 'Limit must be set for non overcommitable resources');
    } else if (difference !== 0 && !free) {
      faults.invalid(at.child('requests'), String(text), `must be equal to ${name} limit of ${limits?.[name]}`);
    } else if (difference > 0) {
      const detail = `must be less than or equal to ${name} limit of ${limits?.[name]}`;
      faults.invalid(at.child('requests'), String(text), detail);
    }
    if (isHugePages(name)) validateHugePages(name, text, at.child('requests').key(name), faults);
  }
  if (withHugePages && !withComputing) faults.forbidden(at, 'HugePages require cpu or memory');
  if (claims?.length) validateClaims(claims, rules.claimNames, at.child('claims'), faults);
}

/** In the order of their names: upstream's is that of a Go map, which is none. */
function sorted(list: ResourceList = {}): (readonly [string, string | number])[] {
  return Object.keys(list)
    .sort()
    .map((name) => [name, list[name] ?? ''] as const);
}

function validateHugePages(name: string, text: string | number, at: FieldPath, faults: Faults): void {
  const page = pageSize(name);
  if (page === undefined) return;
  const amount = parseQuantity(text).nanos;
  if (page > 0n && amount % page === 0n) return;
  faults.invalid(at, String(text), `${text} is not positive integer multiple of ${name}`);
}

function pageSize(name: string): bigint | undefined {
  try {
    return parseQuantity(name.slice('hugepages-'.length)).nanos;
  } catch {
    return 0n;
  }
}

/** Names of claims that a container uses, each of which the pod must have. */
function validateClaims(
  claims: NonNullable<ResourceRequirements['claims']>,
  known: ReadonlySet<string>,
  at: FieldPath,
  faults: Faults,
): void {
  const seen = new Set<string>();
  const requested = new Map<string, number>();
  const names = known.size === 0 ? ' which is empty' : `: ${[...known].sort().join(', ')}`;
  for (const [index, { name = '', request = '' }] of claims.entries()) {
    const place = at.index(index);
    if (name === '') {
      faults.required(place);
      continue;
    }
    if (seen.has(name)) faults.duplicate(place, name);
    else {
      if (request !== '') validateDnsLabel(request, place.child('request'), faults);
      const key = request === '' ? name : `${name}/${request}`;
      if (seen.has(key)) faults.duplicate(place, key);
      else if (request === '') {
        for (let count = requested.get(name) ?? 0; count > 0; count -= 1) faults.duplicate(place, name);
      }
      if (request !== '' && !seen.has(key)) requested.set(name, (requested.get(name) ?? 0) + 1);
      seen.add(key);
    }
    if (!known.has(name)) {
      faults.notFound(place, name, `must be one of the names in pod.spec.resourceClaims${names}`);
    }
  }
}

/** Thousandths, cut: what upstream looks at to tell whether bytes are whole. */
export function isFractional(text: string | number | undefined): boolean {
  return text !== undefined && (parseQuantity(text).nanos / MILLI) % 1000n !== 0n;
}
