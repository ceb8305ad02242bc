import {
  compareQuantities,
  type FieldError,
  type KubeObject,
  parseQuantity,
  quantityToNumber,
  validateQualifiedName,
} from '@asterism/machinery';
import { type Fields, listAt, optionalFields, textAt } from '../fields/draft-fields.ts';
import { Faults } from '../validation/faults.ts';
import { FieldPath } from '../validation/field-path.ts';
import {
  validateContainerResourceName,
  validateResourceName,
  isOvercommitAllowed,
} from '../pod-spec/resource-names.ts';

type Quantities = Readonly<Record<string, string>>;

const TYPES = ['Pod', 'Container', 'PersistentVolumeClaim'];
const LISTS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;

export function validateLimits(object: KubeObject): FieldError[] {
  const faults = new Faults();
  const at = FieldPath.of('spec').child('limits');
  const seen = new Set<string>();
  for (const [index, limit] of listAt(optionalFields(object, 'spec'), 'limits').entries()) {
    const place = at.index(index);
    const type = textAt(limit, 'type');
    validateType(type, place.child('type'), faults);
    if (seen.has(type)) faults.duplicate(place.child('type'), type);
    seen.add(type);
    validateLimit(limit, type, place, faults);
  }
  return faults.found;
}

function validateType(type: string, at: FieldPath, faults: Faults): void {
  const wrong = validateQualifiedName(type);
  faults.invalidEach(at, type, wrong);
  if (wrong.length === 0 && !type.includes('/') && !TYPES.includes(type))
    faults.invalid(at, type, 'must be a standard limit type or fully qualified');
}

function validateLimit(limit: Fields, type: string, at: FieldPath, faults: Faults): void {
  const names = new Set<string>();
  const quantities: Partial<Record<(typeof LISTS)[number], Quantities>> = {};
  for (const list of LISTS) {
    const values = (optionalFields(limit, list) ?? {}) as Quantities;
    if (type === 'Pod' && (list === 'default' || list === 'defaultRequest')) {
      if (Object.keys(values).length > 0) faults.forbidden(at.child(list), "may not be specified when `type` is 'Pod'");
      continue;
    }
    if (list === 'maxLimitRequestRatio') validateClaimLimits(limit, type, at, faults);
    quantities[list] = values;
    for (const name of Object.keys(values)) {
      const place = at.child(list).key(name);
      if (type === 'Pod' || type === 'Container') validateContainerResourceName(name, place, faults);
      else validateResourceName(name, place, faults);
      names.add(name);
    }
  }
  for (const name of [...names].sort()) compareLimits(name, quantities, at, faults);
}

function validateClaimLimits(limit: Fields, type: string, at: FieldPath, faults: Faults): void {
  if (type !== 'PersistentVolumeClaim') return;
  if (optionalFields(limit, 'min')?.storage !== undefined || optionalFields(limit, 'max')?.storage !== undefined)
    return;
  faults.required(at.child('limits'), 'either minimum or maximum storage value is required, but neither was provided');
}

/** What each pair of lists must hold of one resource: the first is not above the second. */
const ORDERED = [
  { low: 'min', high: 'max', blame: 'min', shown: 'low', text: ['min value', 'max value'] },
  {
    low: 'min',
    high: 'defaultRequest',
    blame: 'defaultRequest',
    shown: 'high',
    text: ['min value', 'default request value'],
  },
  {
    low: 'defaultRequest',
    high: 'max',
    blame: 'defaultRequest',
    shown: 'low',
    text: ['default request value', 'max value'],
  },
  {
    low: 'defaultRequest',
    high: 'default',
    blame: 'defaultRequest',
    shown: 'low',
    text: ['default request value', 'default limit value'],
  },
  { low: 'min', high: 'default', blame: 'default', shown: 'low', text: ['min value', 'default value'] },
  { low: 'default', high: 'max', blame: 'default', shown: 'high', text: ['default value', 'max value'] },
] as const;

function compareLimits(
  name: string,
  lists: Partial<Record<(typeof LISTS)[number], Quantities>>,
  at: FieldPath,
  faults: Faults,
): void {
  for (const { low, high, blame, shown, text } of ORDERED) {
    const below = lists[low]?.[name];
    const above = lists[high]?.[name];
    if (below === undefined || above === undefined) continue;
    if (compareQuantities(parseQuantity(below), parseQuantity(above)) <= 0) continue;
    const detail = `${text[0]} ${below} is greater than ${text[1]} ${above}`;
    faults.invalid(at.child(blame).key(name), shown === 'low' ? below : above, detail);
  }
  compareRatio(name, lists, at, faults);
  const fallback = lists.default?.[name];
  const request = lists.defaultRequest?.[name];
  if (fallback === undefined || request === undefined || isOvercommitAllowed(name)) return;
  if (compareQuantities(parseQuantity(fallback), parseQuantity(request)) === 0) return;
  const detail = `default value ${fallback} must equal to defaultRequest value ${request} in ${name}`;
  faults.invalid(at.child('defaultRequest').key(name), request, detail);
}

function compareRatio(
  name: string,
  lists: Partial<Record<(typeof LISTS)[number], Quantities>>,
  at: FieldPath,
  faults: Faults,
): void {
  const text = lists.maxLimitRequestRatio?.[name];
  if (text === undefined) return;
  const place = at.child('maxLimitRequestRatio').key(name);
  const ratio = quantityToNumber(parseQuantity(text));
  if (ratio < 1) faults.invalid(place, text, `ratio ${text} is less than 1`);
  const min = lists.min?.[name];
  const max = lists.max?.[name];
  if (min === undefined || max === undefined) return;
  const limit = quantityToNumber(parseQuantity(max)) / quantityToNumber(parseQuantity(min));
  if (ratio > limit) faults.invalid(place, text, `ratio ${text} is greater than max/min = ${limit.toFixed(6)}`);
}
