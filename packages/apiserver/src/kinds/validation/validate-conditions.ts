import { validateQualifiedName } from '@asterism/machinery';
import { type Fields, listAt, numberAt, textAt } from '../fields/draft-fields.ts';
import type { Faults } from './faults.ts';
import type { FieldPath } from './field-path.ts';

const STATUSES = ['False', 'True', 'Unknown'];
const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const LONGEST_REASON = 1024;
const LONGEST_MESSAGE = 32768;
const BAD_REASON =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

/** The rules that conditions of the common kind (`metav1.Condition`) follow. */
export function validateConditions(status: Fields, at: FieldPath, faults: Faults): void {
  const seen = new Set<string>();
  for (const [index, condition] of listAt(status, 'conditions').entries()) {
    const type = textAt(condition, 'type');
    const place = at.index(index);
    if (seen.has(type)) faults.duplicate(place.child('type'), type);
    seen.add(type);
    validateCondition(condition, place, faults);
  }
}

function validateCondition(condition: Fields, at: FieldPath, faults: Faults): void {
  const [type, status, reason] = ['type', 'status', 'reason'].map((key) => textAt(condition, key)) as [
    string,
    string,
    string,
  ];
  faults.invalidEach(at.child('type'), type, validateQualifiedName(type));
  if (!STATUSES.includes(status)) faults.notSupported(at.child('status'), status, STATUSES);
  if ((numberAt(condition, 'observedGeneration') ?? 0) < 0) {
    const detail = 'must be greater than or equal to zero';
    faults.invalid(at.child('observedGeneration'), condition.observedGeneration, detail);
  }
  if (!condition.lastTransitionTime) faults.required(at.child('lastTransitionTime'), 'must be set');
  if (reason === '') faults.required(at.child('reason'), 'must be set');
  else if (!REASON.test(reason)) faults.invalid(at.child('reason'), reason, BAD_REASON);
  if (reason.length > LONGEST_REASON) faults.tooLong(at.child('reason'), LONGEST_REASON);
  if (textAt(condition, 'message').length > LONGEST_MESSAGE) faults.tooLong(at.child('message'), LONGEST_MESSAGE);
}
