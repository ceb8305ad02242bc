import { type FieldError, validateQualifiedName } from '@asterism/machinery';
import { duplicateValue, required, tooMany } from '../strategy.ts';
import { type Fields, textAt } from './draft-fields.ts';
import { invalidValues } from './name-formats.ts';

const MAX_CONDITIONS = 64;

/** The faults of `matchConditions` but for those of their expressions. */
export function validateMatchConditions(conditions: readonly Fields[], at: string): FieldError[] {
  const names = new Set<string>();
  const errors = conditions.length > MAX_CONDITIONS ? [tooMany(at, conditions.length, MAX_CONDITIONS)] : [];
  for (const [index, condition] of conditions.entries()) {
    const name = textAt(condition, 'name');
    if (textAt(condition, 'expression').trim() === '') errors.push(required(`${at}[${index}].expression`));
    if (name === '') {
      errors.push(required(`${at}[${index}].name`));
      continue;
    }
    errors.push(...invalidValues(`${at}[${index}].name`, name, validateQualifiedName(name)));
    if (names.has(name)) errors.push(duplicateValue(`${at}[${index}].name`, name));
    names.add(name);
  }
  return errors;
}
