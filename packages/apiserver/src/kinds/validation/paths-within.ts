import type { Faults } from './faults.ts';
import type { FieldPath } from './field-path.ts';

/** A path may not step back by `..`. */
export function validateNoBacksteps(path: string, at: FieldPath, faults: Faults): void {
  if (hasBackstep(path)) faults.invalid(at, path, "must not contain '..'");
}

export function hasBackstep(path: string): boolean {
  return path.includes('..') && path.split('/').includes('..');
}

/** Relative, and without steps back. */
export function validateDescendingPath(path: string, at: FieldPath, faults: Faults): void {
  if (path.startsWith('/')) faults.invalid(at, path, 'must be a relative path');
  validateNoBacksteps(path, at, faults);
}

/** A descending path whose first element does not begin with two dots: those the kubelet keeps for itself. */
export function validateUnreservedPath(path: string, at: FieldPath, faults: Faults): void {
  validateDescendingPath(path, at, faults);
  if (path.startsWith('..') && !path.startsWith('../')) faults.invalid(at, path, "must not start with '..'");
}

/** What a file mode beyond 0777 is told. */
export function validateFileMode(mode: number | undefined, at: FieldPath, faults: Faults): void {
  if (mode === undefined || (mode >= 0 && mode <= 0o777)) return;
  faults.invalid(at, mode, 'must be a number between 0 and 0777 (octal), both inclusive');
}
