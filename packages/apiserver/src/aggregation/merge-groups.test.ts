import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CatalogGroup, CatalogResource, RemoteVersion } from '../discovery/group-catalog.ts';
import { mergeGroups } from './merge-groups.ts';

const group = (name: string, versions: string[], builtin = false): CatalogGroup => ({
  name,
  versions: versions.map((version) => ({ version, resources: [{ builtin } as CatalogResource] })),
});
const remote = (name: string, version: string, groupPriority: number, versionPriority = 10): RemoteVersion => ({
  group: name,
  version,
  groupPriority,
  versionPriority,
  resources: [],
  freshness: 'Current',
});
const shown = (groups: CatalogGroup[]): string[] =>
  groups.map(({ name, versions }) => `${name}: ${versions.map(({ version }) => version).join(' ')}`);

const OWN = [group('', ['v1'], true), group('apps', ['v1'], true), group('batch', ['v1'], true), group('m.io', ['v1'])];

const CASES: [string, RemoteVersion[], string[]][] = [
  ['by its priority', [remote('z.io', 'v1', 17_500)], [': v1', 'apps: v1', 'z.io: v1', 'batch: v1', 'm.io: v1']],
  ['by name among equals', [remote('a.io', 'v1', 1000)], [': v1', 'apps: v1', 'batch: v1', 'a.io: v1', 'm.io: v1']],
  [
    'its newest first, where their priorities are the same',
    [remote('a.io', 'v1beta1', 1000), remote('a.io', 'v1', 1000), remote('a.io', 'v2', 1000)],
    [': v1', 'apps: v1', 'batch: v1', 'a.io: v2 v1 v1beta1', 'm.io: v1'],
  ],
  [
    'beside custom ones of the same group, and before one of the same version',
    [remote('m.io', 'v2', 2000, 200), remote('m.io', 'v1', 1000)],
    [': v1', 'apps: v1', 'batch: v1', 'm.io: v2 v1'],
  ],
  ['behind built-in versions', [remote('batch', 'v9', 1000, 900)], [': v1', 'apps: v1', 'batch: v1 v9', 'm.io: v1']],
];

for (const [name, versions, expected] of CASES) {
  test(`a group of another server stands ${name}`, () => assert.deepEqual(shown(mergeGroups(OWN, versions)), expected));
}
