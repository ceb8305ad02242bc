export interface InterleaveOptions {
  rounds: number;
  /** Rounds before those that count: code gets compiled, caches fill. */
  warmUp?: number;
  signal?: AbortSignal;
}

/**
 * Measures every subject in every round, in turn, so that what else the machine does meets all of them alike; every second
 * round runs backwards (A B, B A, …), so that being first is no advantage either.
 *
 * @returns for each subject what its rounds gave, in order.
 */
export async function interleave<Subject extends string, T>(
  subjects: Readonly<Record<Subject, () => Promise<T>>>,
  { rounds, warmUp = 0, signal }: InterleaveOptions,
): Promise<Record<Subject, T[]>> {
  const names = Object.keys(subjects) as Subject[];
  const results = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<Subject, T[]>;
  for (let round = 0; round < warmUp + rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      signal?.throwIfAborted();
      const result = await subjects[name]();
      if (round >= warmUp) results[name].push(result);
    }
  }
  return results;
}
