import type { Logger } from '@asterism/runtime';
import { createSqliteStore, isStoreError, type SearchStore } from '@asterism/store';

/**
 * Opens the store of search. It holds copies of what is in the members, so without space on the disk search keeps them in memory,
 * and the hub starts. Rejects with `StoreError` as `createSqliteStore` does for a file that is damaged.
 */
export async function openSearchStore(
  file: string,
  logger: Logger,
  open: typeof createSqliteStore = createSqliteStore,
): Promise<SearchStore> {
  try {
    return await open({ file });
  } catch (error) {
    if (!isStoreError(error, 'NO_SPACE')) throw error;
    logger.error({}, `no space left for ${file}: search keeps its copies in memory until the hub is restarted`);
    return await open({ file: ':memory:' });
  }
}
