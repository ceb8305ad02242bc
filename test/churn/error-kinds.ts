import type { KlogError } from '../cluster/klog-errors.ts';

const UID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const TIME = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z| [+-]\d{4} \w+)?(?: m=\+\d+\.\d+)?/g;
/** A structure of Go, printed with all that it points to. */
const STRUCTURE = /&?[\w.]+\{.*\}/g;
const QUOTED = /\\?"(?:[^"\\]|\\(?!"))*\\?"/g;
const ADDRESS = /\b\d+\.\d+\.\d+\.\d+(?::\d+)?\b/g;
/** `churn-1/web-2-5d8f…`, or either half. */
const NAMED = /\b(?:churn|passing|node|kube)-[\w.-]+(?:\/[\w.-]+)?/g;

/** What kind of error a line tells of, without what differs from object to object: names, numbers, times. */
export function errorKind({ program, line }: KlogError): string {
  const text = line
    .replace(UID, '<uid>')
    .replace(TIME, '<time>')
    .replace(STRUCTURE, '<structure>')
    .replace(QUOTED, '<name>')
    .replace(ADDRESS, '<address>')
    .replace(NAMED, '<name>')
    .replace(/\b\d+\b/g, '<n>');
  return `${program} ${text}`;
}

/** The errors of each kind, by its name. */
export function groupErrors(errors: readonly KlogError[]): Map<string, KlogError[]> {
  return Map.groupBy(errors, errorKind);
}
