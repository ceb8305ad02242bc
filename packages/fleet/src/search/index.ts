export * from './cluster-annotation.ts';
export { type SearchExtensionOptions, searchExtension } from './query/search-extension.ts';
export { type ClusterIndex, SearchCatalogue, type SearchableResource } from './search-catalogue.ts';
export { addSearchSync, type SearchSyncOptions } from './sync/add-search-sync.ts';
export { DEFAULT_SEARCH_BYTES, DEFAULT_SEARCH_SHARE } from './sync/search-share.ts';
