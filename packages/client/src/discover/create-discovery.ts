import { failure, formatApiVersion, isStatusError, parseApiVersion, type ResourceType } from '@asterism/machinery';
import type { Clock } from '../clock.ts';
import type { Requester } from '../requester.ts';
import type { DiscoveredResource, Discovery } from './discovery.ts';
import { findResource } from './find-resource.ts';
import { oneOfEach } from './one-of-each.ts';
import {
  type DiscoveredGroups,
  isAggregated,
  markPreferred,
  parseAggregated,
  parseResourceList,
  type ResourceListDocument,
} from './parse-discovery.ts';

const AGGREGATED = [
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList',
  'application/json',
].join(',');

/** How often a server that needs a request for each version is asked again for what is missing. */
const LEGACY_INTERVAL_MS = 5_000;

interface Root {
  etag: string | undefined;
  groups: DiscoveredGroups;
}

interface Known extends DiscoveredGroups {
  roots: Map<string, Root>;
}

export function createDiscovery(requester: Requester, clock: Clock): Discovery {
  return new CachedDiscovery(requester, clock);
}

class CachedDiscovery implements Discovery {
  readonly #requester: Requester;
  #known: Promise<Known> | undefined;
  /** What was known last, with its ETags, also after a refresh. */
  #last: Known | undefined;
  readonly #clock: Clock;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(requester: Requester, clock: Clock) {
    this.#requester = requester;
    this.#clock = clock;
  }

  async resources(): Promise<readonly DiscoveredResource[]> {
    return (await this.#load()).resources;
  }

  async typeFor(kind: { apiVersion?: string | undefined; kind?: string | undefined }): Promise<ResourceType> {
    const { apiVersion = '', kind: name = '' } = kind;
    const { group, version } = parseApiVersion(apiVersion);
    return this.#search(
      ({ resources }) =>
        resources.find((type) => type.kind === name && type.group === group && type.version === version),
      ({ stale }) => {
        if (stale.includes(apiVersion))
          return failure(503, `the server of ${apiVersion} does not answer: its kinds are not known`);
        return failure(404, `no matches for kind "${name}" in version "${apiVersion}"`);
      },
    );
  }

  find(word: string): Promise<DiscoveredResource> {
    return this.#search(
      ({ resources }) => findResource(resources, word),
      ({ stale }) => {
        const silent = stale.length > 0 ? ` (not answering: ${stale.join(', ')})` : '';
        return failure(404, `the server doesn't have a resource type "${word}"${silent}`);
      },
    );
  }

  refresh(): void {
    this.#known = undefined;
  }

  /**
   * What is missing may have been added since: the server is asked once more before that is said, unless it takes a request
   * for each version and has been asked just now.
   */
  async #search<R>(look: (known: Known) => R | undefined, missing: (known: Known) => Error): Promise<R> {
    const isFresh = this.#known === undefined;
    const found = look(await this.#load());
    if (found) return found;
    if (!isFresh && this.#mayAskAgain()) this.refresh();
    const known = await this.#load();
    const foundNow = look(known);
    if (foundNow) return foundNow;
    throw missing(known);
  }

  #mayAskAgain(): boolean {
    const byEtag = [...(this.#last?.roots.values() ?? [])].every(({ etag }) => etag !== undefined);
    return byEtag || this.#clock.monotonic() - this.#askedAt >= LEGACY_INTERVAL_MS;
  }

  #load(): Promise<Known> {
    if (this.#known) return this.#known;
    this.#askedAt = this.#clock.monotonic();
    const loading = this.#ask().then((known) => {
      this.#last = known;
      return known;
    });
    this.#known = loading;
    loading.catch(() => {
      if (this.#known === loading) this.#known = undefined;
    });
    return loading;
  }

  async #ask(): Promise<Known> {
    const paths = ['/api', '/apis'];
    const roots = await Promise.all(paths.map((path) => this.#askRoot(path, this.#last?.roots.get(path))));
    return {
      roots: new Map(paths.map((path, index) => [path, roots[index] as Root])),
      resources: roots.flatMap(({ groups }) => groups.resources),
      stale: roots.flatMap(({ groups }) => groups.stale),
    };
  }

  async #askRoot(path: string, last: Root | undefined): Promise<Root> {
    const headers = { accept: AGGREGATED, ...(last?.etag ? { 'if-none-match': last.etag } : {}) };
    const request = { method: 'GET', path, headers };
    const response = await this.#requester.ok(request);
    if (response.status === 304 && last) {
      response.body.destroy();
      return last;
    }
    const { etag } = response.headers;
    const document = await this.#requester.read(request, response, { use: 'discovery' });
    return isAggregated(document)
      ? { etag: typeof etag === 'string' ? etag : undefined, groups: shared(parseAggregated(document)) }
      : { etag: undefined, groups: shared(await this.#askVersions(path, document)) };
  }

  /** Servers before 1.26: one request for each version. One that fails is noted and does not hide the others. */
  async #askVersions(path: string, document: unknown): Promise<DiscoveredGroups> {
    const groupVersions = path === '/api' ? coreVersions(document) : groupVersionsOf(document);
    const stale: string[] = [];
    const lists = await Promise.all(
      groupVersions.map(async (groupVersion) => {
        try {
          const request = { method: 'GET', path: `${path}/${groupVersion}` };
          const list = await this.#requester.json(request, { use: 'discovery' });
          return parseResourceList(list as ResourceListDocument);
        } catch (error) {
          if (!isStatusError(error)) throw error;
          if (error.code !== 404) stale.push(groupVersion);
          return [];
        }
      }),
    );
    return { resources: markPreferred(lists.flat()), stale };
  }
}

function shared({ resources, stale }: DiscoveredGroups): DiscoveredGroups {
  return { resources: oneOfEach(resources), stale };
}

function coreVersions(document: unknown): string[] {
  return (document as { versions?: string[] }).versions ?? [];
}

interface GroupDocument {
  name: string;
  preferredVersion?: { version: string };
  versions: { version: string }[];
}

/** Of each group, the preferred version first. */
function groupVersionsOf(document: unknown): string[] {
  const { groups = [] } = document as { groups?: GroupDocument[] };
  return groups.flatMap(({ name: group, preferredVersion, versions }) => {
    const names = versions.map(({ version }) => version);
    const first = preferredVersion?.version;
    const ordered = first ? [first, ...names.filter((version) => version !== first)] : names;
    return ordered.map((version) => formatApiVersion({ group, version }));
  });
}
