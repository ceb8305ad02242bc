import type { ObjectRow, Source } from '../row.ts';

/** Rows in a round. */
export const ROWS = 100;

export const SOURCES = {
  changed: { cluster: 'c1', group: '', version: 'v1', resource: 'pods' },
  listed: { cluster: 'c1', group: '', version: 'v1', resource: 'nodes' },
} as const satisfies Record<string, Source>;

export function writtenRow(n: number, round: number): ObjectRow {
  return {
    namespace: 'n',
    name: `p${n}`,
    kind: 'Pod',
    uid: `u${n}`,
    resourceVersion: String(round),
    createdAt: round,
    labels: { round: String(round) },
    object: JSON.stringify({ round, filling: 'x'.repeat(2000) }),
  };
}
