import { badRequest, failure, type ListMeta } from '@asterism/machinery';
import { isStoreError, type Query, type QueryResult, type SearchStore, type StoredRow } from '@asterism/store';

/** Rows that are in memory at once, for one answer. */
const PAGE = 500;

export interface SearchPage {
  rows: readonly StoredRow[];
  /** With the last page: where the answer ends and how the next one goes on. */
  end?: ListMeta;
}

/**
 * What a query finds, up to its limit, in pages. How much is left is counted where that costs little: in a limited list that
 * nothing selects from, as Kubernetes has it. Throws StatusError 400 where the store says that it is the query.
 */
export async function* searchPages(store: SearchStore, query: Query): AsyncGenerator<SearchPage> {
  const isCounted = query.limit !== undefined && !query.labels && !query.fields;
  let left = query.limit ?? Number.POSITIVE_INFINITY;
  let next = query.continue;
  do {
    const countRemaining = isCounted && left <= PAGE;
    const page = await ask(store, { ...query, limit: Math.min(PAGE, left), continue: next, countRemaining });
    left -= page.rows.length;
    next = page.continue;
    const isLast = next === undefined || left <= 0;
    yield isLast ? { rows: page.rows, end: metaOf(page) } : { rows: page.rows };
  } while (next !== undefined && left > 0);
}

function metaOf({ continue: next, remaining }: QueryResult): ListMeta {
  if (next === undefined) return {};
  return { continue: next, ...(remaining ? { remainingItemCount: remaining } : {}) };
}

async function ask(store: SearchStore, query: Query): Promise<QueryResult> {
  try {
    return await store.query(query);
  } catch (error) {
    if (isStoreError(error, 'INVALID_CONTINUE')) {
      throw badRequest(`continue: ${error.message}: begin the list again without it`);
    }
    if (isStoreError(error, 'INVALID_QUERY')) throw badRequest(error.message);
    if (isStoreError(error, 'TOO_COSTLY')) throw failure(504, error.message);
    throw error;
  }
}
