export { type FieldPath, type FieldPathSegment, parseFieldPath } from './query/field-path.ts';
export { QUERY_LIMITS } from './query/query-limits.ts';
export type {
  FieldOperator,
  FieldRequirement,
  LabelOperator,
  LabelRequirement,
  Order,
  OrderField,
  Query,
  QueryResult,
  ResourceFilter,
} from './query/query.ts';
export type { DeletedKey, ObjectKey, ObjectRow, Source, StoredRow } from './row.ts';
export type {
  Changes,
  Replacement,
  ReplaceProgress,
  SearchStore,
  Share,
  SourceState,
  Usage,
  WriteCount,
} from './search-store.ts';
export { createSqliteStore, type SqliteStoreOptions } from './sqlite/create-sqlite-store.ts';
export { isStoreError, StoreError, type StoreErrorCode } from './store-error.ts';
