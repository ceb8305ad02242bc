import { createHash } from 'node:crypto';
import { answerBytes, encodeValue, methodNotAllowed, resourceNotServed } from '../http/answer.ts';
import type { ApiExtension } from '../http/api-extension.ts';
import type { ApiRequest, ApiResponse } from '../http/api-request.ts';
import { type AcceptClause, covers, MEDIA_TYPE, negotiate, parseAccept } from '../http/negotiate.ts';
import { pageNotFound } from '../http/page-not-found.ts';
import type { Registry } from '../registry/registry.ts';
import { aggregatedDiscovery } from './aggregated-discovery.ts';
import { type CatalogGroup, groupCatalog } from './group-catalog.ts';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './legacy-discovery.ts';

export const AGGREGATED_CONTENT_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

export interface Discovery {
  /** The groups that are served now; a new array after each change. */
  groups(): readonly CatalogGroup[];
  /** Answers a path of `/api…` and `/apis…` that names no resource. */
  handle(request: ApiRequest): Promise<ApiResponse>;
}

interface Snapshot {
  groups: CatalogGroup[];
  aggregated: Map<'/api' | '/apis', AggregatedDocument>;
}

interface AggregatedDocument {
  body: Buffer;
  etag: string;
}

/** What a server has of its own kinds; a server of extensions alone has none. */
export type OwnKinds = Pick<Registry, 'served' | 'onChange'>;

/** Discovery over a registry and extensions. Documents are made when first asked for, and again after what is served changed. */
export function createDiscovery(options: {
  kinds: OwnKinds | undefined;
  extensions(): readonly ApiExtension[];
  /** `host:port`, as `/api` names it. */
  serverAddress(): string;
}): Discovery & { changed(): void } {
  let snapshot: Snapshot | undefined;
  const changed = (): void => {
    snapshot = undefined;
  };
  options.kinds?.onChange(changed);
  const current = (): Snapshot => {
    snapshot ??= { groups: groupCatalog(options.kinds?.served() ?? [], options.extensions()), aggregated: new Map() };
    return snapshot;
  };
  return {
    changed,
    groups: () => current().groups,
    handle: async (request) => {
      const path = request.path.replace(/\/$/, '');
      const { groups, aggregated } = current();
      if ((path === '/api' || path === '/apis') && request.method === 'GET' && wantsAggregated(request)) {
        const part = groups.filter(({ name }) => (name === '') === (path === '/api'));
        const document = aggregated.get(path) ?? render(part);
        aggregated.set(path, document);
        return answerAggregated(request, document);
      }
      const value = legacyDocument(path, groups, options.serverAddress());
      if (value === undefined) {
        if (/^\/apis\/[^/]*$/.test(path)) return pageNotFound();
        throw resourceNotServed();
      }
      if (request.method !== 'GET') throw methodNotAllowed();
      const { encoding } = negotiate(request.headers.accept, { encodings: ['json', 'yaml'], transforms: [] });
      return await encodeValue(200, value, encoding);
    },
  };
}

function legacyDocument(path: string, groups: readonly CatalogGroup[], serverAddress: string): unknown {
  const [, root, first, second] = path.split('/');
  if (root === 'api') {
    const core = groups.find(({ name }) => name === '');
    if (first === undefined) return apiVersions(core === undefined ? [] : ['v1'], serverAddress);
    return core === undefined ? undefined : apiResourceList(core, first);
  }
  if (first === undefined) return apiGroupList(groups);
  const group = first === '' ? undefined : groups.find(({ name }) => name === first);
  if (group === undefined) return undefined;
  return second === undefined ? apiGroup(group) : apiResourceList(group, second);
}

/** Whether aggregated discovery stands in the Accept header before anything else that could be answered. */
function wantsAggregated(request: ApiRequest): boolean {
  for (const clause of parseAccept(request.headers.accept)) {
    if (!covers(clause.type, MEDIA_TYPE.json)) continue;
    if (isAggregatedV2(clause)) return true;
    if (!clause.params.has('as')) return false;
  }
  return false;
}

function isAggregatedV2({ params }: AcceptClause): boolean {
  return (
    params.get('g') === 'apidiscovery.k8s.io' &&
    params.get('v') === 'v2' &&
    params.get('as') === 'APIGroupDiscoveryList'
  );
}

function render(groups: readonly CatalogGroup[]): AggregatedDocument {
  const body = Buffer.from(JSON.stringify(aggregatedDiscovery(groups)));
  const hash = createHash('sha512').update(body).digest('hex').toUpperCase();
  return { body, etag: `"${hash}"` };
}

function answerAggregated(request: ApiRequest, { body, etag }: AggregatedDocument): ApiResponse {
  const headers = { etag, vary: 'Accept', 'cache-control': 'public' };
  const known = request.headers['if-none-match'];
  if (known === etag) return { status: 304, headers };
  const response = answerBytes(200, body, AGGREGATED_CONTENT_TYPE);
  Object.assign(response.headers, headers);
  return response;
}
