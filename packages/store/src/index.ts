export * from './query/field-path.ts';
export * from './query/query-limits.ts';
export * from './query/query.ts';
export * from './row.ts';
export * from './search-store.ts';
export * from './sqlite/create-sqlite-store.ts';
export * from './store-error.ts';
