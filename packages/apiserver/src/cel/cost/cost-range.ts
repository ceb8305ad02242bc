/** The least and the most that something can be: a cost or a size. Without a limit the most is infinite. */
export interface Range {
  min: number;
  max: number;
}

export const UNKNOWN: Range = { min: 0, max: Number.POSITIVE_INFINITY };

export function exactly(value: number): Range {
  return { min: value, max: value };
}

export function add(...ranges: readonly Range[]): Range {
  return ranges.reduce((sum, { min, max }) => ({ min: sum.min + min, max: sum.max + max }), exactly(0));
}

export function multiply(a: Range, b: Range): Range {
  return { min: times(a.min, b.min), max: times(a.max, b.max) };
}

/** Rounded up. */
export function scale({ min, max }: Range, factor: number): Range {
  return { min: Math.ceil(min * factor), max: Math.ceil(max * factor) };
}

/** The range that has both. */
export function union(a: Range, b: Range): Range {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}

function times(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : a * b;
}
