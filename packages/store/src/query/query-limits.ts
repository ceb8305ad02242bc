/** What one query may ask for. Beyond it a query is refused, and the message names the limit. */
export const QUERY_LIMITS = {
  /** Conditions on labels. */
  labels: 20,
  /** Conditions on fields. */
  fields: 50,
  /** Values of one condition. */
  values: 1_000,
  /** `[]` in the path of one field. */
  arraysInPath: 8,
  /** Names and indexes in the path of one field. */
  pathSegments: 64,
  /** Characters of the path of one field. */
  pathLength: 2_048,
  /** Parts that a name has to contain. */
  nameParts: 10,
  /** Milliseconds that SQLite looks into objects for one query, in steps between which others get their turn. */
  searchMs: 20_000,
} as const;
