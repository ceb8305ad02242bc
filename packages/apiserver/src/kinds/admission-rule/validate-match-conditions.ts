import { type FieldError, fieldRequired, fieldTooMany, validateQualifiedName } from '@asterism/machinery';
import { type Fields, textAt } from '../fields/draft-fields.ts';
import { invalidValues } from '../validation/name-formats.ts';
import { duplicateValue, invalidValue } from '../../registry/invalid-value.ts';

const MAX_CONDITIONS = 64;

/** The faults of `matchConditions`; those of their expressions are found by `compile`, where it is given. */
export function validateMatchConditions(
  conditions: readonly Fields[],
  at: string,
  compile?: (expressions: readonly string[]) => (string | undefined)[],
): FieldError[] {
  const names = new Set<string>();
  const faults = conditions.length > MAX_CONDITIONS ? [fieldTooMany(at, conditions.length, MAX_CONDITIONS)] : [];
  const expressions = conditions.map((condition) => textAt(condition, 'expression'));
  const expressionFaults =
    conditions.length > MAX_CONDITIONS || conditions.length === 0 ? [] : (compile?.(expressions) ?? []);
  for (const [index, condition] of conditions.entries()) {
    const name = textAt(condition, 'name');
    const expression = expressions[index]!;
    const fault = expressionFaults[index];
    if (expression.trim() === '') faults.push(fieldRequired(`${at}[${index}].expression`));
    else if (fault !== undefined) faults.push(invalidValue(`${at}[${index}].expression`, expression, fault));
    if (name === '') {
      faults.push(fieldRequired(`${at}[${index}].name`));
      continue;
    }
    faults.push(...invalidValues(`${at}[${index}].name`, name, validateQualifiedName(name)));
    if (names.has(name)) faults.push(duplicateValue(`${at}[${index}].name`, name));
    names.add(name);
  }
  return faults;
}
