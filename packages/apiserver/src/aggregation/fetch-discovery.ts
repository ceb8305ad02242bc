import { READ_LIMITS } from '@asterism/client';
import { failure } from '@asterism/machinery';
import { firstHeader } from '../contract/first-header.ts';
import { type Fetch, fetchJson } from './fetch-json.ts';

/** What a server behind this one says of a group-version, as items of aggregated discovery. */
export interface FetchedDiscovery {
  resources: readonly object[];
  etag: string | undefined;
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

interface GroupList {
  items?: { metadata?: { name?: string }; versions?: { version?: string; resources?: unknown }[] }[];
}

interface ResourceList {
  resources?: unknown;
}

interface LegacyResource {
  name: string;
  singularName?: string;
  namespaced?: boolean;
  group?: string;
  version?: string;
  kind?: string;
  verbs?: string[];
  shortNames?: string[];
  categories?: string[];
}

/**
 * Asks for aggregated discovery, and a server that does not know it for the resources of the group-version. Undefined where
 * nothing changed since `known`. Rejects where there is no usable answer.
 */
export async function fetchDiscovery(
  from: Pick<Fetch, 'transport' | 'signal'>,
  at: { group: string; version: string },
  known: FetchedDiscovery | undefined,
): Promise<FetchedDiscovery | undefined> {
  const accept = `${AGGREGATED},application/json;q=0.9`;
  const answer = await fetchJson({ ...from, path: '/apis', accept, etag: known?.etag, limits: READ_LIMITS.discovery });
  if (answer.status === 304 && known !== undefined) return undefined;
  const isAggregated = firstHeader(answer.headers, 'content-type')?.includes('as=APIGroupDiscoveryList') === true;
  if (answer.status === 200 && isAggregated) {
    const { items = [] } = answer.value as GroupList;
    const group = items.find(({ metadata }) => metadata?.name === at.group);
    const found = group?.versions?.find(({ version }) => version === at.version);
    return { resources: objectsOf(found?.resources ?? []), etag: firstHeader(answer.headers, 'etag') };
  }
  const path = `/apis/${at.group}/${at.version}`;
  const list = await fetchJson({ ...from, path, accept: 'application/json', limits: READ_LIMITS.discovery });
  if (list.status !== 200) throw failure(502, `${path} was answered with ${list.status}`);
  const { resources = [] } = list.value as ResourceList;
  return { resources: fromLegacy(objectsOf(resources) as LegacyResource[], at), etag: undefined };
}

function objectsOf(value: unknown): object[] {
  if (!Array.isArray(value)) throw failure(502, 'its discovery is none');
  return value.filter((each): each is object => typeof each === 'object' && each !== null);
}

/** `NAME/SUBRESOURCE` becomes a part of `NAME`; one whose resource is not listed stands alone without verbs, as upstream does. */
function fromLegacy(list: readonly LegacyResource[], at: { group: string; version: string }): object[] {
  const responseKind = ({ group, version, kind = '' }: LegacyResource) => ({
    group: group || at.group,
    version: version || at.version,
    kind,
  });
  const byName = Map.groupBy(
    list.filter(({ name }) => typeof name === 'string'),
    ({ name }) => name.split('/')[0] ?? '',
  );
  return [...byName].map(([name, entries]) => {
    const own = entries.find((entry) => entry.name === name);
    const { shortNames = [], categories = [] } = own ?? {};
    const below = entries.filter((entry) => entry !== own);
    return {
      resource: name,
      ...(own === undefined ? {} : { responseKind: responseKind(own) }),
      scope: (own ?? entries[0])?.namespaced === true ? 'Namespaced' : 'Cluster',
      singularResource: own?.singularName ?? '',
      verbs: own?.verbs ?? [],
      ...(shortNames.length > 0 ? { shortNames } : {}),
      ...(categories.length > 0 ? { categories } : {}),
      ...(below.length === 0
        ? {}
        : {
            subresources: below.map((entry) => ({
              subresource: entry.name.slice(name.length + 1),
              responseKind: responseKind(entry),
              verbs: entry.verbs ?? [],
            })),
          }),
    };
  });
}
