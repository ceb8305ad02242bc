import type { FigureSpec, Measurement } from '../harness/bench.ts';
import type { Sample } from './subject.ts';

/** With fsync on at each commit, as etcd has it unless it is told otherwise. */
export const KUBERNETES = 'kube-apiserver + etcd';
export const KUBERNETES_NO_FSYNC = 'kube-apiserver + etcd --unsafe-no-fsync';

export type LoadFigure<Load extends string> = `${Load}.${'cpu' | 'p50' | 'p99' | 'rate'}`;

/**
 * Four figures of one kind of request: CPU of the servers (the one that counts: at most `cpu` of the baseline's), latency at
 * that many in flight, and throughput, both at least as good as the baseline's.
 */
export function loadFigures<Load extends string>(
  load: Load,
  { what, cpu, baseline = KUBERNETES }: { what: string; cpu: number; baseline?: string },
): Record<LoadFigure<Load>, FigureSpec> {
  const compared = { baseline: { name: baseline } };
  const figures: Record<string, FigureSpec> = {
    cpu: {
      name: `${what}: CPU of the servers`,
      unit: 'ms/1,000',
      ...compared,
      goal: { of: 'ratio', atMost: cpu },
    },
    p50: { name: `${what}: p50`, unit: 'ms', ...compared, goal: { of: 'ratio', atMost: 1 } },
    p99: { name: `${what}: p99`, unit: 'ms', ...compared, goal: { of: 'ratio', atMost: 1 } },
    rate: { name: `${what}: throughput`, unit: 'requests/s', ...compared, goal: { of: 'ratio', atLeast: 1 } },
  };
  return Object.fromEntries(Object.entries(figures).map(([id, spec]) => [`${load}.${id}`, spec])) as Record<
    LoadFigure<Load>,
    FigureSpec
  >;
}

/** What the rounds of ours and of the baseline gave, for the figures of {@link loadFigures}. */
export function loadMeasurements(
  ours: readonly Sample[],
  theirs: readonly Sample[] | string,
): Record<'cpu' | 'p50' | 'p99' | 'rate', Measurement> {
  const compare = (of: (sample: Sample) => number): Measurement =>
    typeof theirs === 'string'
      ? { notMeasured: theirs, values: ours.map(of) }
      : { values: ours.map(of), baselines: theirs.map(of) };
  return {
    cpu: compare(({ cpuMsEach }) => cpuMsEach * 1000),
    p50: compare(({ p50Ms }) => p50Ms),
    p99: compare(({ p99Ms }) => p99Ms),
    rate: compare(({ requests, wallMs }) => (requests / wallMs) * 1000),
  };
}
