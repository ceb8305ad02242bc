import { isJsonObject } from '@asterism/machinery';

/** Reads a status that came over the wire: of the right shape in all likelihood, and by no means trusted to be. */

export type Status = Readonly<Record<string, unknown>>;

export function numberOf(status: Status | undefined, field: string): number {
  const value = status?.[field];
  return typeof value === 'number' ? value : 0;
}

export function textOf(status: Status | undefined, field: string): string | undefined {
  const value = status?.[field];
  return typeof value === 'string' ? value : undefined;
}

export function objectsOf(status: Status | undefined, field: string): Status[] {
  const value = status?.[field];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function fieldsOf(value: unknown): Status {
  return isJsonObject(value) ? value : {};
}

export interface StatusCondition {
  type: string;
  status: string;
  reason: string;
  message: string;
  lastTransitionTime: string | undefined;
  /** The generation that it speaks of; undefined where it does not say. */
  observedGeneration: number | undefined;
}

export function conditionOf(status: Status | undefined, type: string): StatusCondition | undefined {
  const found = objectsOf(status, 'conditions').find((condition) => condition['type'] === type);
  return (
    found && {
      type,
      status: textOf(found, 'status') ?? 'Unknown',
      reason: textOf(found, 'reason') ?? '',
      message: textOf(found, 'message') ?? '',
      lastTransitionTime: textOf(found, 'lastTransitionTime'),
      observedGeneration: typeof found['observedGeneration'] === 'number' ? found['observedGeneration'] : undefined,
    }
  );
}

/** Whether a condition says by itself that it speaks of an earlier generation of its object. */
export function isConditionStale({ observedGeneration }: StatusCondition, generation: number | undefined): boolean {
  return observedGeneration !== undefined && observedGeneration < (generation ?? 0);
}

/** The largest number that a counter of a Kubernetes status holds (int32). */
export const LARGEST_COUNT = 2_147_483_647;

/** Sums of the named counters over all statuses; a counter that is 0 everywhere is left out unless `required`. */
export function sumsOf(
  statuses: readonly (Status | undefined)[],
  counters: readonly string[],
  required: readonly string[] = [],
): Record<string, number> {
  const sums = counters.map(
    (field) =>
      [
        field,
        Math.min(
          statuses.reduce((sum, status) => sum + numberOf(status, field), 0),
          LARGEST_COUNT,
        ),
      ] as const,
  );
  return Object.fromEntries(sums.filter(([field, sum]) => sum !== 0 || required.includes(field)));
}
