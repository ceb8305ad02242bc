import type { FieldError, LabelSelector } from '@asterism/machinery';
import type { Fields } from '../fields/draft-fields.ts';
import { Faults } from './faults.ts';
import { FieldPath } from './field-path.ts';
import { checkLabelSelector } from './validate-selector.ts';

/** The faults of a `LabelSelector` that stands at `at`; none where there is none. */
export function validateLabelSelector(selector: Fields | undefined, at: string): FieldError[] {
  const faults = new Faults();
  checkLabelSelector(selector as LabelSelector | undefined, FieldPath.of(at), faults);
  return faults.found;
}
