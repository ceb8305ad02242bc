import {
  badRequest,
  failure,
  type FieldError,
  fieldForbidden,
  fieldNotSupported,
  invalid,
  StatusError,
} from '@asterism/machinery';
import type { ListOptions, WatchOptions } from './registry.ts';

const MAX_UINT64 = 2n ** 64n - 1n;

/** From which moment a list or watch reads. `any` and `latest` are the same here: the cache is never behind. */
export type ReadMoment =
  | { at: 'latest' }
  | { at: 'notOlderThan'; revision: number }
  | { at: 'exact'; revision: number };

const LIST_OPTIONS = { group: 'meta.k8s.io', kind: 'ListOptions' };

/** The rules of apimachinery's `ValidateListOptions`: 422 for options that do not go together. */
export function requireListOptions(options: ListOptions): void {
  const { resourceVersion = '', resourceVersionMatch: match = '' } = options;
  const faults: FieldError[] = [];
  if (match !== '') {
    if (resourceVersion === '')
      faults.push(matchForbidden('resourceVersionMatch is forbidden unless resourceVersion is provided'));
    if (options.continue) faults.push(matchForbidden('resourceVersionMatch is forbidden when continue is provided'));
    if (match !== 'Exact' && match !== 'NotOlderThan')
      faults.push(fieldNotSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']));
    if (match === 'Exact' && resourceVersion === '0') {
      faults.push(matchForbidden('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (options.sendInitialEvents !== undefined) {
    faults.push(fieldForbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  if (faults.length > 0) throw invalid(LIST_OPTIONS, '', faults);
}

/** The moment that a list reads, by the rules of upstream's storage for `resourceVersion` and `resourceVersionMatch`. */
export function readMomentOfList(options: ListOptions): ReadMoment {
  const { resourceVersion = '', resourceVersionMatch: match = '', limit = 0 } = options;
  if (options.continue) {
    if (resourceVersion === '' || resourceVersion === '0') return { at: 'latest' };
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  if (resourceVersion === '') return { at: 'latest' };
  const revision = parseRevision(resourceVersion);
  // Paging from a resourceVersion has meant that very snapshot since before there was a match parameter.
  const isExact = match === 'Exact' || (match === '' && limit > 0 && revision !== 0);
  if (revision === undefined && isExact) throw invalidRevision(resourceVersion);
  if (revision === undefined) throw badRequest(`invalid resource version: ${invalidRevisionMessage(resourceVersion)}`);
  if (revision === 0) return { at: 'latest' };
  return isExact ? { at: 'exact', revision } : { at: 'notOlderThan', revision };
}

/** Where a watch begins. `initial`: with an ADDED for everything there is, at least as new as `revision`. */
export type WatchStart = { initial: true; revision: number } | { initial: false; revision: number | undefined };

/** The same rules for a watch; `revision` undefined: from now. */
export function watchStart(options: WatchOptions): WatchStart {
  const { resourceVersion = '', resourceVersionMatch: match = '', sendInitialEvents } = options;
  const faults: FieldError[] = [];
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    faults.push(matchForbidden('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (match !== '') {
    if (sendInitialEvents === undefined) {
      faults.push(matchForbidden('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
    }
    if (match !== 'NotOlderThan') faults.push(fieldNotSupported('resourceVersionMatch', match, ['NotOlderThan']));
    if (options.continue) faults.push(matchForbidden('resourceVersionMatch is forbidden when continue is provided'));
  }
  if (faults.length > 0) throw invalid(LIST_OPTIONS, '', faults);
  const revision = resourceVersion === '' ? 0 : parseRevision(resourceVersion);
  if (revision === undefined) throw invalidRevision(resourceVersion);
  if (sendInitialEvents) return { initial: true, revision };
  if (revision === 0)
    return sendInitialEvents === false ? { initial: false, revision: undefined } : { initial: true, revision };
  return { initial: false, revision };
}

/** A resourceVersion is an unsigned integer of 64 bits for us, opaque for clients; undefined where it is none. */
export function parseRevision(resourceVersion: string): number | undefined {
  return revisionFault(resourceVersion) === undefined ? Number(resourceVersion) : undefined;
}

/** Why it is none, in Go's words. */
export function revisionFault(resourceVersion: string): string | undefined {
  const parsing = `strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}`;
  if (!/^\d+$/.test(resourceVersion)) return `${parsing}: invalid syntax`;
  // Digits that are too many are not read as a number first: that would take long.
  const digits = resourceVersion.replace(/^0+/, '');
  const isTooLarge = digits.length > 20 || (digits.length === 20 && BigInt(digits) > MAX_UINT64);
  return isTooLarge ? `${parsing}: value out of range` : undefined;
}

/** 500 without a reason: so upstream answers a get and a watch, though a list gets 400. */
export function invalidRevision(resourceVersion: string): StatusError {
  const { status } = failure(500, invalidRevisionMessage(resourceVersion));
  const { reason: _, ...rest } = status;
  return new StatusError(rest);
}

function invalidRevisionMessage(resourceVersion: string): string {
  return `resourceVersion: Invalid value: ${JSON.stringify(resourceVersion)}: ${revisionFault(resourceVersion)}`;
}

/** 504: the server has not seen that revision yet; clients ask again in a second. */
export function tooLargeRevision(revision: number, current: number): StatusError {
  return failure(504, `Timeout: Too large resource version: ${revision}, current: ${current}`, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });
}

function matchForbidden(why: string): FieldError {
  return fieldForbidden('resourceVersionMatch', why);
}
