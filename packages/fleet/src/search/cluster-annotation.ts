/**
 * On every object that search gives out: the cluster that it is of. It is not on the object in that cluster; should somebody have
 * put it there (by applying what a search gave out), search says the truth nevertheless.
 */
export const SEARCH_CLUSTER_ANNOTATION = 'search.asterism.dev/cluster';
