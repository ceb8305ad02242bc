import type { PodSpec } from '../generated/core-v1.ts';
import type { LabelSelector } from '../generated/meta-v1.ts';
import { formatLabelSelector, labelSelectorFromObject } from '../labels.ts';
import { isStatusError } from '../status.ts';
import { type ColumnOf, text, wide } from './table-printer.ts';

/** How `kubectl get` writes an empty cell of its various kinds. */
export const NONE = '<none>';
export const UNSET = '<unset>';
export const UNKNOWN = '<unknown>';

/** The first `most` of a list, and how many more there are: `a,b,c + 2 more...`. */
export function abridge(items: readonly string[], most: number, separator = ','): string {
  const shown = items.slice(0, most).join(separator);
  return items.length > most ? `${shown} + ${items.length - most} more...` : shown;
}

export function joined(items: readonly string[] | null | undefined): string {
  return items?.join(',') || NONE;
}

/** `a=b,c=d`, sorted. */
export function labelsText(labels: Record<string, string> | null | undefined): string {
  return joined(
    Object.entries(labels ?? {})
      .map(([key, value]) => `${key}=${value}`)
      .sort(),
  );
}

/** @param words for a selector that says nothing, and for one that cannot be read */
export function selectorText(
  selector: LabelSelector | null | undefined,
  { none, faulty } = { none: NONE, faulty: '<error>' },
): string {
  try {
    return (selector && formatLabelSelector(labelSelectorFromObject(selector))) || none;
  } catch (error) {
    if (isStatusError(error)) return faulty;
    throw error;
  }
}

export function booleanText(value: boolean | null | undefined): string {
  return value === undefined || value === null ? UNSET : value ? 'True' : 'False';
}

/** The wide columns with the names and images of a pod template's containers. */
export function containerColumns<T>(podSpec: (object: T) => PodSpec | undefined): ColumnOf<T>[] {
  const list = (object: T) => podSpec(object)?.containers ?? [];
  return wide(
    text('Containers', (object: T) =>
      list(object)
        .map(({ name }) => name)
        .join(','),
    ),
    text('Images', (object: T) =>
      list(object)
        .map(({ image }) => image ?? '')
        .join(','),
    ),
  );
}
