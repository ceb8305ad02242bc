import { type Fields, textAt } from '../fields/draft-fields.ts';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';

/** What is scaled, or described by a metric (`ValidateCrossVersionObjectReference`). */
export function validateScaleTarget(target: Fields, at: FieldPath, faults: Faults, withVersion = true): void {
  const kind = textAt(target, 'kind');
  for (const key of ['kind', 'name']) {
    const value = textAt(target, key);
    if (value === '') faults.required(at.child(key));
    else faults.invalidEach(at.child(key), value, validateSegment(value));
  }
  if (!withVersion) return;
  const apiVersion = textAt(target, 'apiVersion');
  const place = at.child('apiVersion');
  const parts = apiVersion.split('/');
  // What cannot be read, and the core group, in which one kind alone can be scaled.
  if (parts.length > 2) return faults.invalid(place, apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  if ((parts.length === 1 || parts[0] === '') && kind !== 'ReplicationController') {
    faults.invalid(place, apiVersion, 'apiVersion must specify API group');
  }
}

/** What a name cannot be that becomes part of a URL's path. */
export function validateSegment(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((mark) => name.includes(mark)).map((mark) => `may not contain '${mark}'`);
}
