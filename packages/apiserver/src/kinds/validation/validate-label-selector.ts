import {
  type FieldError,
  type LabelSelector,
  labelSelectorFromObject,
  matchesLabels,
  validateLabelKey,
  validateLabels,
  validateLabelValue,
} from '@asterism/machinery';
import type { Fields } from '../fields/draft-fields.ts';
import { collectFaults, type Faults } from './faults.ts';
import { FieldPath } from './field-path.ts';

/** The rules of `ValidateLabelSelector`; an absent selector has no faults. */
export function validateLabelSelector(selector: LabelSelector | null | undefined, at: FieldPath, faults: Faults): void {
  if (!selector) return;
  validateLabelsAt(selector.matchLabels, at.child('matchLabels'), faults);
  const { matchExpressions } = selector;
  if (!matchExpressions) return;
  for (const [index, { key = '', operator, values }] of matchExpressions.entries()) {
    const place = at.child('matchExpressions').index(index);
    if (operator === 'In' || operator === 'NotIn') {
      if (!values?.length)
        faults.required(place.child('values'), "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values?.length)
        faults.forbidden(place.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else faults.invalid(place.child('operator'), operator ?? '', 'not a valid selector operator');
    faults.invalidEach(place.child('key'), key, validateLabelKey(key));
    for (const [each, value] of (values ?? []).entries()) {
      const wrong = validateLabelValue(value);
      if (wrong.length > 0) faults.invalidEach(place.child('values').index(each), value, wrong);
    }
  }
}

/** The faults of a `LabelSelector` that stands at `at`; none where there is none. */
export function labelSelectorFaults(selector: Fields | undefined, at: string): FieldError[] {
  return collectFaults((faults) =>
    validateLabelSelector(selector as LabelSelector | undefined, FieldPath.of(at), faults),
  );
}

export function validateLabelsAt(
  labels: Readonly<Record<string, string>> | null | undefined,
  at: FieldPath,
  faults: Faults,
): void {
  if (labels) faults.addAll(validateLabels(labels, at.toString()));
}

/** Whether a selector asks for anything at all. */
export function isEmptySelector({ matchLabels, matchExpressions }: LabelSelector): boolean {
  return Object.keys(matchLabels ?? {}).length + (matchExpressions?.length ?? 0) === 0;
}

/** Whether the selector takes `labels`; undefined where it is none that could be asked. An absent one takes nothing. */
export function selectorTakes(
  selector: LabelSelector | null | undefined,
  labels: Readonly<Record<string, string>> | null | undefined,
): boolean | undefined {
  if (!selector) return false;
  try {
    return matchesLabels(labelSelectorFromObject(selector), labels ?? {});
  } catch {
    return undefined;
  }
}

/** A selector with its parts in the order in which Go writes them. */
export function writtenSelector({ matchLabels, matchExpressions }: LabelSelector): object {
  const labels = Object.entries(matchLabels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...(labels.length > 0 ? { matchLabels: Object.fromEntries(labels) } : {}),
    ...(matchExpressions?.length
      ? {
          matchExpressions: matchExpressions.map(({ key, operator, values }) => ({
            key,
            operator,
            ...(values?.length ? { values } : {}),
          })),
        }
      : {}),
  };
}
