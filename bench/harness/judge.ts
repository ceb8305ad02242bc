import type { FigureSpec, Goal, Measurement } from './bench.ts';
import { median, spread } from './statistics.ts';

/** A figure with what was found, compared and judged. */
export interface Finding {
  id: string;
  name: string;
  unit: string;
  value?: number;
  baseline?: { name: string; value?: number; quoted?: true };
  /** value / baseline */
  ratio?: number;
  goal?: Goal;
  holds: 'yes' | 'no' | 'not measured' | 'no goal';
  /** Why a number is missing. */
  notMeasured?: string;
  /** Every round, in order; and how far apart they lie, as a part of the median. */
  rounds?: { values: readonly number[]; baselines?: readonly number[]; spread: number };
}

const NOT_REACHED = 'the bench ended before it came to it';

/**
 * Judges one figure. A goal that needs a number which is missing neither holds nor fails: it is `not measured`, and
 * {@link missed} counts it as missed.
 */
export function judge(id: string, spec: FigureSpec, measurement: Measurement = { notMeasured: NOT_REACHED }): Finding {
  const { name, unit, goal } = spec;
  const values = (measurement.values ?? []).filter((value) => !Number.isNaN(value));
  const value = values.length === 0 ? undefined : median(values);
  const baseline = baselineOf(spec, measurement);
  const ratio = value === undefined || baseline?.value === undefined ? undefined : value / baseline.value;
  const notMeasured = 'notMeasured' in measurement ? measurement.notMeasured : missingNumber(value, baseline);
  const baselines = 'baselines' in measurement ? measurement.baselines : undefined;
  return {
    id,
    name,
    unit,
    ...(value === undefined ? {} : { value }),
    ...(baseline === undefined ? {} : { baseline }),
    ...(ratio === undefined ? {} : { ratio }),
    ...(goal === undefined ? {} : { goal }),
    holds: holds(goal, goal?.of === 'ratio' ? ratio : value, notMeasured !== undefined),
    ...(notMeasured === undefined ? {} : { notMeasured }),
    ...(values.length === 0
      ? {}
      : { rounds: { values, ...(baselines === undefined ? {} : { baselines }), spread: spread(values) } }),
  };
}

/** The figures whose goal does not hold, or of which nobody can tell. */
export function missed(findings: readonly Finding[]): Finding[] {
  return findings.filter(({ holds: held }) => held === 'no' || held === 'not measured');
}

function baselineOf({ baseline }: FigureSpec, measurement: Measurement): Finding['baseline'] {
  if (baseline === undefined) return undefined;
  const { name, quoted } = baseline;
  if (quoted !== undefined) return { name, value: quoted, quoted: true };
  const values = 'baselines' in measurement ? (measurement.baselines ?? []) : [];
  return values.length === 0 ? { name } : { name, value: median(values) };
}

function missingNumber(value: number | undefined, baseline: Finding['baseline']): string | undefined {
  if (value === undefined) return 'there is no value';
  if (baseline !== undefined && baseline.value === undefined) return `there is no value of ${baseline.name}`;
  return undefined;
}

function holds(goal: Goal | undefined, value: number | undefined, isMissing: boolean): Finding['holds'] {
  if (isMissing) return 'not measured';
  if (goal === undefined) return 'no goal';
  if (value === undefined) return 'not measured';
  const { atMost = Number.POSITIVE_INFINITY, atLeast = Number.NEGATIVE_INFINITY } = goal;
  return value <= atMost && value >= atLeast ? 'yes' : 'no';
}
