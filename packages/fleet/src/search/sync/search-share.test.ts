import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Cluster, HubConfiguration } from '../../api/index.ts';
import { DEFAULT_SEARCH_SHARE, searchShare } from './search-share.ts';

const cluster = (share: object): Cluster => ({ metadata: {}, spec: { searchShare: share } }) as unknown as Cluster;
const hub = (share: object): HubConfiguration =>
  ({ metadata: {}, spec: { search: { shareOfCluster: share } } }) as unknown as HubConfiguration;

const rows: [name: string, Cluster | undefined, HubConfiguration | undefined, rows: number, bytes: number][] = [
  ['nobody says anything', undefined, undefined, DEFAULT_SEARCH_SHARE.rows, DEFAULT_SEARCH_SHARE.bytes],
  ['the hub says both', undefined, hub({ maxObjects: 5, maxBytes: 6 }), 5, 6],
  ['the cluster overrides both', cluster({ maxObjects: 1, maxBytes: 2 }), hub({ maxObjects: 5, maxBytes: 6 }), 1, 2],
  ['the cluster overrides one', cluster({ maxObjects: 1 }), hub({ maxObjects: 5, maxBytes: 6 }), 1, 6],
];
for (const [name, ofCluster, ofHub, maxRows, maxBytes] of rows) {
  test(name, () => assert.deepEqual(searchShare(ofCluster, ofHub), { rows: maxRows, bytes: maxBytes }));
}
