export { SEARCH_CLUSTER_ANNOTATION } from './cluster-annotation.ts';
export { searchExtension } from './query/search-extension.ts';
export { SearchCatalogue } from './search-catalogue.ts';
export { addSearchSync } from './sync/add-search-sync.ts';
export { DEFAULT_SEARCH_BYTES, DEFAULT_SEARCH_SHARE } from './sync/search-share.ts';
