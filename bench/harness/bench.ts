/** What a figure must be. `ratio` is value / baseline. */
export interface Goal {
  of: 'value' | 'ratio';
  atMost?: number;
  atLeast?: number;
}

/** One number that a bench promises to find. */
export interface FigureSpec {
  name: string;
  unit: string;
  /** What the value is compared with. Measured in the same run, unless it is `quoted`. */
  baseline?: { name: string; quoted?: number };
  /** Without one the figure is for information only. */
  goal?: Goal;
}

/** What was found. Of several rounds the median counts. */
export type Measurement =
  | { values: readonly number[]; baselines?: readonly number[] }
  /** Why there is no number, or none to compare with. */
  | { notMeasured: string; values?: readonly number[] };

/** More than fits one line for a figure: a breakdown, what was found on the side. */
export interface Detail {
  title: string;
  columns: readonly string[];
  rows: readonly (readonly (string | number)[])[];
}

export interface BenchContext<Id extends string> {
  /** What was measured; a figure that was declared and never reported counts as not measured. */
  report(figure: Id, measurement: Measurement): void;
  detail(detail: Detail): void;
  /** Says on stderr what is being done. */
  progress(text: string): void;
  /** Aborts when the bench has to end. */
  signal: AbortSignal;
}

/** A bench: what it finds, what that is worth, and how. */
export interface Bench<Id extends string = string> {
  name: string;
  summary: string;
  /** It is stopped after so long. */
  minutes: number;
  figures: Readonly<Record<Id, FigureSpec>>;
  run(context: BenchContext<Id>): Promise<void>;
}

/** Keeps the names of the figures as a type, so that a bench cannot report one that it did not declare. */
export function defineBench<Id extends string>(bench: Bench<Id>): Bench<Id> {
  return bench;
}
