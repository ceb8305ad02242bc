import type { FigureSpec, Measurement } from '../harness/bench.ts';
import { interleave } from '../harness/interleave.ts';
import { MissingBinary } from '../harness/real-binary.ts';
import { startKubernetesServer } from './kubernetes-server.ts';
import { startOurServer } from './our-server.ts';
import type { ServerUnderTest } from './server-under-test.ts';
import { Subject } from './subject.ts';

/** Two prepared servers; or ours and the reason why there is nothing to compare with. */
export interface Pair {
  ours: Subject;
  theirs: Subject | string;
}

/** `stack` ends both. */
export async function startPair(
  stack: AsyncDisposableStack,
  durability: { synchronous: 'NORMAL' | 'FULL'; fsync: 'fsync' | 'no fsync' },
  signal: AbortSignal,
): Promise<Pair> {
  const prepare = async (server: ServerUnderTest): Promise<Subject> => {
    stack.use(server);
    return stack.use(await Subject.prepare(server, signal));
  };
  const ours = await prepare(await startOurServer(durability.synchronous, { signal }));
  try {
    return { ours, theirs: await prepare(await startKubernetesServer(durability.fsync, { signal })) };
  } catch (error) {
    if (error instanceof MissingBinary) return { ours, theirs: error.message };
    throw error;
  }
}

/** Every round of ours with the round of theirs beside it. */
export async function measureBoth<T>(
  { ours, theirs }: Pair,
  measure: (subject: Subject) => Promise<T>,
  options: { rounds: number; warmUp: number; signal: AbortSignal },
): Promise<{ ours: T[]; theirs: T[] | string }> {
  if (typeof theirs === 'string') {
    const alone = await interleave({ ours: () => measure(ours) }, options);
    return { ours: alone.ours, theirs };
  }
  return await interleave({ ours: () => measure(ours), theirs: () => measure(theirs) }, options);
}

/** What {@link measureBoth} gave, for a figure that is compared. */
export function compared<T>(
  { ours, theirs }: { ours: T[]; theirs: T[] | string },
  of: (sample: T) => number,
): Measurement {
  return typeof theirs === 'string'
    ? { values: ours.map(of), notMeasured: theirs }
    : { values: ours.map(of), baselines: theirs.map(of) };
}

/** A figure that is at most so much of the baseline's. */
export const atMost = (ratio: number, name: string, unit: string, baseline: string): FigureSpec => ({
  name,
  unit,
  baseline: { name: baseline },
  goal: { of: 'ratio', atMost: ratio },
});
