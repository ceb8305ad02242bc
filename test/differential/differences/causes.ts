import { isJsonObject } from '@asterism/machinery';
import type { Fields } from '../objects/generated-kind.ts';

/** The causes of a Status. */
export function causesOf(status: unknown): Fields[] {
  if (!isJsonObject(status) || !isJsonObject(status['details'])) return [];
  const { causes } = status['details'];
  return Array.isArray(causes) ? causes.filter(isJsonObject) : [];
}

/** Changes each cause of a Status. Returns whether one was. */
export function eachCause(status: unknown, change: (cause: Fields) => boolean): boolean {
  return causesOf(status).map(change).includes(true);
}

/** Keeps one of several equal causes. Returns whether there were any. */
export function keepDistinctCauses(status: unknown): boolean {
  const causes = causesOf(status);
  if ((status as Fields | undefined)?.['reason'] === 'Conflict') return false;
  const distinct = new Map(causes.map((cause) => [JSON.stringify([cause['field'], cause['message']]), cause]));
  if (distinct.size === causes.length) return false;
  ((status as Fields)['details'] as Fields)['causes'] = [...distinct.values()];
  return true;
}
