import { isJsonObject } from '@asterism/machinery';
import type { Fields } from '../objects/generated-kind.ts';
import type { KnownDifference } from './known-difference.ts';

/** What discovery tells. */
export const servedDifferences: readonly KnownDifference[] = [
  {
    name: 'singular names of built-in kinds',
    reason: 'discovery tells them since 1.27',
    answer({ real, own }) {
      return eachResource(real, own, (theirs, ours) => {
        if (theirs['singularName'] !== '' || ours['singularName'] === '') return false;
        theirs['singularName'] = ours['singularName'];
        return true;
      });
    },
  },
  {
    name: 'resources added since 1.20',
    reason: 'a server of 1.36 serves more resources and subresources; none that 1.20 had may be missing',
    answer({ real, own }) {
      const [theirs, ours] = [resourcesOf(real), resourcesOf(own)];
      if (!theirs || !ours) return false;
      const names = new Set(theirs.map(({ name }) => name));
      const kept = ours.filter(({ name }) => names.has(name));
      (own['body'] as Fields)['resources'] = kept;
      return kept.length < ours.length;
    },
  },
  {
    name: 'storage version hashes',
    reason: 'of kinds that 1.20 still stores in a beta version',
    answer({ real, own, request }) {
      if (!STORED_OTHERWISE.test(request)) return false;
      return eachResource(real, own, (theirs, ours) => {
        if (theirs['storageVersionHash'] === undefined || ours['storageVersionHash'] === undefined) return false;
        if (theirs['storageVersionHash'] === ours['storageVersionHash']) return false;
        theirs['storageVersionHash'] = ours['storageVersionHash'];
        return true;
      });
    },
  },
  {
    name: 'eviction in the version v1',
    reason: 'pods/eviction takes policy/v1 since 1.22',
    answer: ({ real, own }) =>
      eachResource(real, own, (theirs) => {
        if (theirs['name'] !== 'pods/eviction' || theirs['version'] !== 'v1beta1') return false;
        theirs['version'] = 'v1';
        return true;
      }),
  },
  {
    name: 'beta versions of a group',
    reason: 'went in 1.22 and 1.25, but for those that clients of 1.20 are still served',
    answer({ real: { body }, own }) {
      if (!isJsonObject(body) || body['kind'] !== 'APIGroup' || !Array.isArray(body['versions'])) return false;
      const { versions: ours = [] } = own['body'] as { versions?: Fields[] };
      const isGone = ({ version }: Fields): boolean =>
        String(version).includes('beta') && !ours.some((other) => other['version'] === version);
      const kept = (body['versions'] as Fields[]).filter((each) => !isGone(each));
      const changed = kept.length < body['versions'].length;
      body['versions'] = kept;
      return changed;
    },
  },
  {
    name: 'keys of /version',
    reason: 'emulationMajor and the like are of 1.34',
    answer({ real, own }) {
      const [theirs, ours] = [real['body'], own['body']];
      if (!isJsonObject(theirs) || !isJsonObject(ours) || !('gitCommit' in theirs)) return false;
      for (const key of Object.keys(ours)) if (/^(emulation|minCompatibility)/.test(key)) delete ours[key];
      return true;
    },
  },
  {
    name: 'groups and versions added and removed since 1.20',
    reason: 'beta versions went (1.22, 1.25), groups came; versions of both are compared in their order',
    answer({ real, own }) {
      const [theirs, ours] = [groupsOf(real), groupsOf(own)];
      if (!theirs || !ours) return false;
      (real['body'] as Fields)['groups'] = commonGroups(theirs, ours);
      (own['body'] as Fields)['groups'] = commonGroups(ours, theirs);
      return true;
    },
  },
  {
    name: 'deletion of a collection of services',
    reason: 'a verb of services since 1.23',
    answer: ({ real }) =>
      eachResource(real, real, (theirs) => {
        const { name, verbs } = theirs;
        if (name !== 'services' || !Array.isArray(verbs) || verbs.includes('deletecollection')) return false;
        theirs['verbs'] = [...(verbs as string[]), 'deletecollection'].sort();
        return true;
      }),
  },
];

/** The groups that the others have too, by name; of each the versions that the others have too, in their order. */
function commonGroups(groups: readonly Fields[], others: readonly Fields[]): Fields[] {
  return groups
    .flatMap((group) => {
      const other = others.find(({ name }) => name === group['name']);
      const known = new Set(other === undefined ? [] : versionsOf(other));
      return other === undefined
        ? []
        : [{ name: group['name'], versions: versionsOf(group).filter((version) => known.has(version)) }];
    })
    .sort(byName);
}

function versionsOf({ versions }: Fields): unknown[] {
  return (versions as Fields[]).map(({ version }) => version);
}

function byName(a: Fields, b: Fields): number {
  return String(a['name']).localeCompare(String(b['name']));
}

function resourcesOf({ body }: Fields): Fields[] | undefined {
  return isJsonObject(body) && body['kind'] === 'APIResourceList' ? (body['resources'] as Fields[]) : undefined;
}

function groupsOf({ body }: Fields): Fields[] | undefined {
  return isJsonObject(body) && body['kind'] === 'APIGroupList' ? (body['groups'] as Fields[]) : undefined;
}

function eachResource(real: Fields, own: Fields, change: (theirs: Fields, ours: Fields) => boolean): boolean {
  const ours = resourcesOf(own);
  return (resourcesOf(real) ?? [])
    .map((theirs) => {
      const same = ours?.find(({ name }) => name === theirs['name']);
      return same !== undefined && change(theirs, same);
    })
    .includes(true);
}

const STORED_OTHERWISE =
  /autoscaling|networking|storage|coordination|scheduling|node\.k8s|events|certificates|admission|apiextensions|apiregistration|rbac|batch/;
