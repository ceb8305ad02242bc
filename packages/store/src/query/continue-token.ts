import { createHash } from 'node:crypto';
import type { StoredRow } from '../row.ts';
import { StoreError } from '../store-error.ts';
import type { CheckedQuery } from './check-query.ts';

/** The last row of a page, by the values that order it. */
export type Position = readonly (string | number)[];

/** `query`: the digest of the query that it goes on with. */
interface Token {
  query: string;
  position: Position;
}

/** Opaque, base64url: where `query` goes on behind `row`. */
export function continueBehind(query: CheckedQuery, row: StoredRow): string {
  const token: Token = { query: digest(query), position: positionAt(query, row) };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

export function positionAt({ orderBy }: CheckedQuery, row: StoredRow): Position {
  return orderBy.map(({ field }) => row[field]);
}

/**
 * Where `query` goes on; undefined for the beginning. Limit and count may change from page to page, nothing else.
 *
 * @throws StoreError `INVALID_CONTINUE`.
 */
export function positionOf(query: CheckedQuery): Position | undefined {
  if (query.continue === undefined) return undefined;
  const token = decode(query.continue);
  if (!token) throw new StoreError('INVALID_CONTINUE', 'the token is not one that was given out');
  const fits = query.orderBy.every(
    ({ field }, index) => typeof token.position[index] === (field === 'createdAt' ? 'number' : 'string'),
  );
  if (token.query !== digest(query) || !fits || token.position.length !== query.orderBy.length) {
    throw new StoreError('INVALID_CONTINUE', 'the token is of another query: conditions and order must stay the same');
  }
  return token.position;
}

function decode(text: string): Token | undefined {
  try {
    const token: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return isToken(token) ? token : undefined;
  } catch {
    return undefined;
  }
}

function isToken(value: unknown): value is Token {
  return (
    typeof value === 'object' &&
    value !== null &&
    'query' in value &&
    'position' in value &&
    Array.isArray(value.position)
  );
}

function digest(query: CheckedQuery): string {
  const { limit: _limit, continue: _continue, countRemaining: _count, ...rest } = query;
  const sorted = Object.entries(rest).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('base64url').slice(0, 16);
}
