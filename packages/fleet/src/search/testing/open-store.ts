import { createSqliteStore, type SearchStore } from '@asterism/store';

export async function openStore(): Promise<SearchStore> {
  return createSqliteStore({ file: ':memory:' });
}
