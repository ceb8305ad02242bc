import { createHash } from 'node:crypto';
import { failure, type GroupVersion } from '@asterism/machinery';
import { answerBytes, answerJson, methodNotAllowed, resourceNotServed } from '../http/answer.ts';
import type { ApiRequest, ApiResponse } from '../http/api-request.ts';
import { covers, MEDIA_TYPE, parseAccept } from '../http/negotiate.ts';
import { pageNotFound } from '../http/page-not-found.ts';
import type { OwnKinds } from '../discovery/discovery-handler.ts';
import type { ApiExtension } from '../http/api-extension.ts';
import { type DescribedResource, describeExtension } from './described-resource.ts';
import { openApiDocument } from './openapi-document.ts';

export interface OpenApi {
  /** Answers `/openapi/…`. */
  handle(request: ApiRequest): Promise<ApiResponse>;
}

interface Snapshot {
  /** By `api/v1`, `apis/apps/v1`. */
  versions: ReadonlyMap<string, PublishedVersion>;
}

interface PublishedVersion extends GroupVersion {
  resources: DescribedResource[];
  hash: string;
  document: Buffer | undefined;
}

export interface OpenApiOptions {
  kinds: OwnKinds | undefined;
  extensions(): readonly ApiExtension[];
  gitVersion: string;
}

/**
 * OpenAPI v3 (KEP-2896): an index with a hash for each group-version, and a document for each, made when first asked for. A
 * document is kept for as long as what it describes stays as it is.
 *
 * A server of extensions alone publishes OpenAPI v2 too, without paths: the aggregator in front of it merges what it finds.
 */
export function createOpenApi(options: OpenApiOptions): OpenApi & { changed(): void } {
  const { gitVersion, kinds } = options;
  let snapshot: Snapshot | undefined;
  const changed = (): void => {
    snapshot = takeSnapshot(options, snapshot);
  };
  kinds?.onChange(changed);
  return {
    changed,
    handle: (request) => {
      if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed();
      const path = request.path.replace(/\/$/, '');
      if (path === '/openapi/v2' && kinds !== undefined) throw noVersion2();
      const isVersion3 = path === '/openapi/v3' || path.startsWith('/openapi/v3/');
      if (path !== '/openapi/v2' && !isVersion3) return Promise.resolve(pageNotFound());
      checkAccept(request);
      if (!isVersion3) return Promise.resolve(answerVersion2(request, gitVersion));
      snapshot ??= takeSnapshot(options, undefined);
      if (path === '/openapi/v3') return Promise.resolve(answerJson(200, index(snapshot)));
      const published = snapshot.versions.get(path.slice('/openapi/v3/'.length));
      if (published === undefined) throw resourceNotServed();
      return Promise.resolve(answerDocument(request, published, gitVersion));
    },
  };
}

function noVersion2() {
  const why =
    'this server publishes OpenAPI v3 at /openapi/v3 and no OpenAPI v2; use a client that reads v3 (kubectl 1.27 or newer)';
  return failure(404, why, { details: {} });
}

function answerVersion2(request: ApiRequest, gitVersion: string): ApiResponse {
  const document = { swagger: '2.0', info: { title: 'Kubernetes', version: gitVersion }, paths: {}, definitions: {} };
  const body = Buffer.from(JSON.stringify(document));
  const headers = { etag: `"${createHash('sha256').update(body).digest('hex').toUpperCase()}"`, vary: 'Accept' };
  if (request.headers['if-none-match'] === headers.etag) return { status: 304, headers };
  const response = answerBytes(200, body);
  Object.assign(response.headers, headers);
  return response;
}

/** Protobuf alone is not on offer. */
function checkAccept({ headers }: ApiRequest): void {
  if (parseAccept(headers.accept).some(({ type }) => covers(type, MEDIA_TYPE.json))) return;
  throw failure(406, `only the following media types are accepted: ${MEDIA_TYPE.json}`);
}

/** Versions that did not change keep their documents. */
function takeSnapshot(options: OpenApiOptions, before: Snapshot | undefined): Snapshot {
  const { gitVersion, kinds } = options;
  const byPath = new Map<string, DescribedResource[]>();
  for (const resource of [...(kinds?.served() ?? []), ...options.extensions().flatMap(describeExtension)]) {
    const { group, version } = resource.type;
    const path = group === '' ? `api/${version}` : `apis/${group}/${version}`;
    byPath.set(path, [...(byPath.get(path) ?? []), resource]);
  }
  const versions = new Map<string, PublishedVersion>();
  for (const [path, resources] of byPath) {
    const { group, version } = resources[0]!.type;
    const hash = hashOf(resources, gitVersion);
    const known = before?.versions.get(path);
    versions.set(path, known?.hash === hash ? known : { group, version, resources, hash, document: undefined });
  }
  return { versions };
}

/** Raised when documents are made differently: clients keep them by their hash, for ever. */
const FORMAT = 2;

/** Built-in schemas are what the server's version says; custom ones count with their text. */
function hashOf(resources: readonly DescribedResource[], gitVersion: string): string {
  const hash = createHash('sha256').update(`${FORMAT} ${gitVersion}`);
  for (const { type, storage, schema, subresources, verbs } of resources) {
    hash.update(JSON.stringify([type, verbs, subresources, storage === 'custom' ? schema : null]));
  }
  return hash.digest('hex').toUpperCase();
}

function index({ versions }: Snapshot) {
  const paths = Object.fromEntries(
    [...versions].map(([path, { hash }]) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }]),
  );
  return { paths };
}

function answerDocument(request: ApiRequest, published: PublishedVersion, gitVersion: string): ApiResponse {
  const etag = `"${published.hash}"`;
  const asked = request.query.get('hash');
  const forever = asked === published.hash;
  const headers = {
    etag,
    vary: 'Accept',
    'cache-control': forever ? 'public, immutable' : 'no-cache, private',
    ...(forever ? { expires: 'Fri, 31 Dec 9999 23:59:59 GMT' } : {}),
  };
  if (request.headers['if-none-match'] === etag) return { status: 304, headers };
  const { group, version, resources } = published;
  published.document ??= Buffer.from(JSON.stringify(openApiDocument({ group, version }, resources, gitVersion)));
  const response = answerBytes(200, published.document);
  Object.assign(response.headers, headers);
  return response;
}
