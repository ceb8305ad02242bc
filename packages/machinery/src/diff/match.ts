/** A run of lines that both texts have. */
export interface Match {
  start: number;
  newStart: number;
  length: number;
}

/** Finds the runs of lines that both texts have, in their order; all other lines changed. */
export type Matcher = (old: readonly string[], now: readonly string[]) => Match[];
