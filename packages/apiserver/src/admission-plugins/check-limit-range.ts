import {
  compareQuantities,
  formatQuantity,
  type KubeObject,
  milliValue,
  parseQuantity,
  quantityToNumber,
} from '@asterism/machinery';
import { type Fields, listAt, optionalFields, textAt } from '../kinds/fields/draft-fields.ts';
import { type Amounts, amountsAt, podAmounts } from './pod-amounts.ts';

/** Above this a quantity has no thousandths in 64 bits, and upstream compares whole units. */
const MOST_IN_THOUSANDTHS = (2 ** 63 - 1) / 1000;

/** What one bound applies to. */
interface Bounded {
  /** `Container`, `Pod` or `PersistentVolumeClaim`. */
  type: string;
  requests: Amounts;
  limits: Amounts;
}

/** Where a pod or a claim is outside the bounds of a LimitRange, in upstream's words. */
export function faultsByRange(object: KubeObject, resource: string, range: KubeObject): string[] {
  const spec = optionalFields(object, 'spec') ?? {};
  return listAt(optionalFields(range, 'spec'), 'limits').flatMap((limit) => {
    const type = textAt(limit, 'type');
    if (resource === 'persistentvolumeclaims') {
      return type === 'PersistentVolumeClaim'
        ? faultsOfClaim(amountsAt(optionalFields(spec, 'resources'), 'requests'), limit)
        : [];
    }
    if (type === 'Pod') {
      return faultsOf({ type, requests: podAmounts(spec, 'requests'), limits: podAmounts(spec, 'limits') }, limit);
    }
    if (type !== 'Container') return [];
    return [...listAt(spec, 'containers'), ...listAt(spec, 'initContainers')].flatMap((container) => {
      const resources = optionalFields(container, 'resources');
      return faultsOf(
        { type, requests: amountsAt(resources, 'requests'), limits: amountsAt(resources, 'limits') },
        limit,
      );
    });
  });
}

function faultsOf(bounded: Bounded, limit: Fields): string[] {
  return [
    ...eachOf(limit, 'min', (name, bound) => belowLeast(name, bound, bounded)),
    ...eachOf(limit, 'max', (name, bound) => aboveMost(name, bound, bounded)),
    ...eachOf(limit, 'maxLimitRequestRatio', (name, bound) => aboveRatio(name, bound, bounded)),
  ];
}

function faultsOfClaim(requests: Amounts, limit: Fields): string[] {
  const type = 'PersistentVolumeClaim';
  return [
    ...eachOf(limit, 'min', (name, bound) => belowLeast(name, bound, { type, requests, limits: new Map() })),
    ...eachOf(limit, 'max', (name, bound) => {
      const most = `maximum ${name} usage per ${type} is ${formatQuantity(bound)}`;
      const request = requests.get(name);
      if (request === undefined) return `${most}.  No request is specified`;
      return compareQuantities(request, bound) > 0 ? `${most}, but request is ${formatQuantity(request)}` : undefined;
    }),
  ];
}

type Bound = ReturnType<typeof parseQuantity>;

function eachOf(limit: Fields, list: string, check: (name: string, bound: Bound) => string | undefined): string[] {
  return [...amountsAt(limit, list)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, bound]) => check(name, bound) ?? []);
}

function belowLeast(name: string, bound: Bound, { type, requests, limits }: Bounded): string | undefined {
  const least = `minimum ${name} usage per ${type} is ${formatQuantity(bound)}`;
  const request = requests.get(name);
  const limit = limits.get(name);
  if (request === undefined) return `${least}.  No request is specified`;
  if (compareQuantities(request, bound) < 0) return `${least}, but request is ${formatQuantity(request)}`;
  if (limit && compareQuantities(limit, bound) < 0) return `${least}, but limit is ${formatQuantity(limit)}`;
  return undefined;
}

function aboveMost(name: string, bound: Bound, { type, requests, limits }: Bounded): string | undefined {
  const most = `maximum ${name} usage per ${type} is ${formatQuantity(bound)}`;
  const request = requests.get(name);
  const limit = limits.get(name);
  if (limit === undefined) return `${most}.  No limit is specified`;
  if (compareQuantities(limit, bound) > 0) return `${most}, but limit is ${formatQuantity(limit)}`;
  if (request && compareQuantities(request, bound) > 0) return `${most}, but request is ${formatQuantity(request)}`;
  return undefined;
}

function aboveRatio(name: string, bound: Bound, { type, requests, limits }: Bounded): string | undefined {
  const most = `${name} max limit to request ratio per ${type} is ${formatQuantity(bound)}`;
  const request = requests.get(name);
  const limit = limits.get(name);
  if (request === undefined || request.nanos === 0n) return `${most}, but no request is specified or request is 0`;
  if (limit === undefined || limit.nanos === 0n) return `${most}, but no limit is specified or limit is 0`;
  const ratio = Number(limit.nanos) / Number(request.nanos);
  const whole = Math.ceil(quantityToNumber(bound));
  const allowed = whole <= MOST_IN_THOUSANDTHS ? milliValue(bound) / 1000 : whole;
  return ratio > allowed ? `${most}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}
