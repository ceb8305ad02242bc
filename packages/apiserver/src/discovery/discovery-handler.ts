import { createHash } from 'node:crypto';
import { answerBytes, encodeValue, methodNotAllowed, resourceNotServed } from '../http/answer/answer.ts';
import type { ApiExtension } from '../http/extension/api-extension.ts';
import type { ApiRequest, ApiResponse } from '../contract/api-request.ts';
import {
  type AcceptClause,
  checkProducible,
  covers,
  type Encoding,
  MEDIA_TYPE,
  negotiate,
  parseAccept,
} from '../http/answer/negotiate.ts';
import { pageNotFound } from '../http/health/page-not-found.ts';
import type { Registry } from '../registry/registry.ts';
import { aggregatedDiscovery } from './aggregated-discovery.ts';
import { type CatalogGroup, groupCatalog } from './group-catalog.ts';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './legacy-discovery.ts';

const AGGREGATED_PARAMETERS = 'g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const ENCODINGS: readonly Encoding[] = ['json', 'yaml', 'protobuf'];

export interface Discovery {
  /** The groups that are served now; a new array after each change. */
  groups(): readonly CatalogGroup[];
  /** Answers a path of `/api…` and `/apis…` that names no resource. */
  handle(request: ApiRequest): Promise<ApiResponse>;
}

interface Snapshot {
  groups: CatalogGroup[];
  /** The same with what only old clients look for. */
  forOldClients: CatalogGroup[];
  aggregated: Map<'/api' | '/apis', AggregatedDocument>;
}

interface AggregatedDocument {
  value: object;
  /** As JSON, which nearly all ask for. */
  body: Buffer;
  etag: string;
}

/** What a server has of its own kinds; a server of extensions alone has none. */
export type OwnKinds = Pick<Registry, 'served' | 'legacy' | 'onChange'>;

export interface DiscoveryOptions {
  kinds: OwnKinds | undefined;
  extensions(): readonly ApiExtension[];
  /** The groups with what other servers serve. */
  merge?(groups: CatalogGroup[]): CatalogGroup[];
  /** Whether {@link OwnKinds.legacy} is shown to who does not ask for aggregated discovery. */
  legacyVersions: boolean;
  /** `host:port`, as `/api` names it. */
  serverAddress(): string;
}

/** Discovery over a registry and extensions. Documents are made when first asked for, and again after what is served changed. */
export function createDiscovery(options: DiscoveryOptions): Discovery & { changed(): void } {
  let snapshot: Snapshot | undefined;
  const changed = (): void => {
    snapshot = undefined;
  };
  options.kinds?.onChange(changed);
  const current = (): Snapshot => {
    snapshot ??= takeSnapshot(options);
    return snapshot;
  };
  return {
    changed,
    groups: () => current().groups,
    handle: async (request) => {
      const path = request.path.replace(/\/$/, '');
      const { groups, forOldClients, aggregated } = current();
      if (request.method === 'GET') checkProducible(request.headers.accept, false);
      const encoding = path === '/api' || path === '/apis' ? aggregatedEncoding(request) : undefined;
      if (encoding !== undefined && (path === '/api' || path === '/apis')) {
        const part = groups.filter(({ name }) => (name === '') === (path === '/api'));
        const document = aggregated.get(path) ?? render(part);
        aggregated.set(path, document);
        return await answerAggregated(request, document, encoding);
      }
      const value = legacyDocument(path, forOldClients, options.serverAddress());
      if (value === undefined) {
        if (path.startsWith('/apis/') && !hasBuiltinKinds(groups, path.split('/')[2])) return pageNotFound();
        if (/^\/apis\/[^/]*$/.test(path)) return pageNotFound();
        throw resourceNotServed();
      }
      if (request.method !== 'GET') throw methodNotAllowed();
      const negotiated = negotiate(request.headers.accept, { encodings: ENCODINGS, transforms: [] });
      return await encodeValue(200, value, negotiated.encoding);
    },
  };
}

function takeSnapshot({ kinds, extensions, legacyVersions, merge = (own) => own }: DiscoveryOptions): Snapshot {
  const served = kinds?.served() ?? [];
  const legacy = legacyVersions ? (kinds?.legacy() ?? []) : [];
  const groups = merge(groupCatalog(served, extensions()));
  const forOldClients = legacy.length === 0 ? groups : merge(groupCatalog([...served, ...legacy], extensions()));
  return { groups, forOldClients, aggregated: new Map() };
}

function legacyDocument(path: string, groups: readonly CatalogGroup[], serverAddress: string): object | undefined {
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

/** How aggregated discovery is to be encoded, where it stands in the Accept header before anything else that could be answered. */
function aggregatedEncoding({ method, headers }: ApiRequest): Encoding | undefined {
  if (method !== 'GET') return undefined;
  for (const clause of parseAccept(headers.accept)) {
    const encoding = ENCODINGS.find((candidate) => covers(clause.type, MEDIA_TYPE[candidate]));
    if (encoding === undefined) continue;
    if (isAggregatedV2(clause)) return encoding;
    if (!clause.params.has('as')) return undefined;
  }
  return undefined;
}

function isAggregatedV2({ params }: AcceptClause): boolean {
  return (
    params.get('g') === 'apidiscovery.k8s.io' &&
    params.get('v') === 'v2' &&
    params.get('as') === 'APIGroupDiscoveryList'
  );
}

function render(groups: readonly CatalogGroup[]): AggregatedDocument {
  const value = aggregatedDiscovery(groups);
  const body = Buffer.from(JSON.stringify(value));
  return { value, body, etag: `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"` };
}

async function answerAggregated(
  request: ApiRequest,
  { value, body, etag }: AggregatedDocument,
  encoding: Encoding,
): Promise<ApiResponse> {
  const headers = { etag, vary: 'Accept', 'cache-control': 'public' };
  const known = request.headers['if-none-match'];
  if (known === etag) return { status: 304, headers };
  const response = encoding === 'json' ? answerBytes(200, body) : await encodeValue(200, value, encoding);
  Object.assign(response.headers, headers, { 'content-type': `${MEDIA_TYPE[encoding]};${AGGREGATED_PARAMETERS}` });
  return response;
}

/** Groups of other servers and of custom resources are no paths of the server's own. */
function hasBuiltinKinds(groups: readonly CatalogGroup[], group: string | undefined): boolean {
  const versions = groups.find(({ name }) => name === group)?.versions ?? [];
  return versions.some(({ resources }) => resources.some(({ builtin }) => builtin));
}
