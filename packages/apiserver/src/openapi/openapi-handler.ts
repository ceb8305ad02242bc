import { createHash } from 'node:crypto';
import { encodeSwagger, type GroupVersion, type OpenApiSchema } from '@asterism/machinery';
import type { OwnKinds } from '../discovery/discovery-handler.ts';
import { answerBytes, answerJson, methodNotAllowed, resourceNotServed } from '../http/answer/answer.ts';
import type { ApiExtension } from '../http/extension/api-extension.ts';
import type { ApiRequest, ApiResponse } from '../contract/api-request.ts';
import { covers, MEDIA_TYPE, parseAccept } from '../http/answer/negotiate.ts';
import { pageNotFound } from '../http/health/page-not-found.ts';
import { type DescribedResource, describeExtension } from './described-resource.ts';
import { IdleValue } from './idle-value.ts';
import type { RemoteDescription, SwaggerPart } from './remote-description.ts';
import { openApiDocument } from './openapi-document.ts';
import { swaggerDocument } from './swagger-document.ts';

export interface OpenApi {
  /** Answers `/openapi/…`. */
  handle(request: ApiRequest): Promise<ApiResponse>;
}

/** All documents of what is served between two changes. */
interface Snapshot {
  /** By `api/v1`, `apis/apps/v1`. */
  versions: ReadonlyMap<string, PublishedVersion>;
  version2: Readonly<Record<'json' | 'protobuf', Published>>;
}

/** A document, kept as long as it is asked for. */
interface Published {
  hash: string;
  document: IdleValue<Buffer>;
}

interface PublishedVersion extends Published, GroupVersion {}

export interface OpenApiOptions {
  kinds: OwnKinds | undefined;
  extensions(): readonly ApiExtension[];
  /** Whether another server serves a group-version, whatever the registry has of it. */
  isRemote?(group: string, version: string): boolean;
  /** What other servers say of theirs. */
  remotes?(): readonly RemoteDescription[];
  gitVersion: string;
}

const VERSION_2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
/** What v2 is asked for as, and what it is served as. */
const VERSION_2_TYPES: readonly { asked: string; encoding: 'json' | 'protobuf'; served: string }[] = [
  { asked: MEDIA_TYPE.json, encoding: 'json', served: MEDIA_TYPE.json },
  {
    asked: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
    encoding: 'protobuf',
    served: VERSION_2_PROTOBUF,
  },
  { asked: VERSION_2_PROTOBUF, encoding: 'protobuf', served: VERSION_2_PROTOBUF },
];
/** Documents are large, and clients that keep them by their hash seldom ask. */
const IDLE_MS = 60_000;
/** Raised when documents are made differently: clients keep them by their hash, for ever. */
const FORMAT = 4;

/**
 * OpenAPI v3 (KEP-2896): an index with a hash for each group-version, and a document for each; and v2, all in one, as JSON and
 * as protobuf. Documents are made when asked for and dropped when they are not; their hashes, by which clients keep them, need
 * none of them.
 */
export function createOpenApi(options: OpenApiOptions): OpenApi & { changed(): void } {
  const hashes = new WeakMap<object, string>();
  let snapshot: Snapshot | undefined;
  let isStale = true;
  const changed = (): void => {
    isStale = true;
  };
  const current = (): Snapshot => {
    if (snapshot === undefined || isStale) snapshot = takeSnapshot(options, snapshot, hashes);
    isStale = false;
    return snapshot;
  };
  options.kinds?.onChange(changed);
  return {
    changed,
    handle: async (request) => {
      if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed();
      const { path } = request;
      if (path === '/openapi/v2') return await answerVersion2(request, current());
      const isVersion3 = path === '/openapi/v3' || path.startsWith('/openapi/v3/');
      if (!isVersion3) return pageNotFound();
      if (!accepts(request, MEDIA_TYPE.json)) return notAcceptable();
      if (path === '/openapi/v3') return answerJson(200, index(current()));
      const published = current().versions.get(path.slice('/openapi/v3/'.length));
      if (published === undefined) throw resourceNotServed();
      return await answerVersion3(request, published);
    },
  };
}

/** Versions that did not change keep their documents. */
function takeSnapshot(
  options: OpenApiOptions,
  before: Snapshot | undefined,
  hashes: WeakMap<object, string>,
): Snapshot {
  const { gitVersion, kinds, isRemote = () => false } = options;
  const remotes = options.remotes?.() ?? [];
  const served = (kinds?.served() ?? []).filter(({ type }) => !isRemote(type.group, type.version));
  const all: DescribedResource[] = [...served, ...options.extensions().flatMap(describeExtension)];
  const versions = new Map<string, PublishedVersion>();
  for (const [path, resources] of Map.groupBy(all, ({ type }) => pathOf(type))) {
    const { group, version } = resources[0]!.type;
    const hash = hashOf(resources, gitVersion, hashes);
    const known = before?.versions.get(path);
    const make = () => encoded(openApiDocument({ group, version }, resources, gitVersion));
    versions.set(path, known?.hash === hash ? known : { group, version, hash, document: new IdleValue(make, IDLE_MS) });
  }
  for (const { group, version, hash, document } of remotes) {
    const path = pathOf({ group, version });
    const known = before?.versions.get(path);
    const make = async () => await encoded(await document());
    versions.set(path, known?.hash === hash ? known : { group, version, hash, document: new IdleValue(make, IDLE_MS) });
  }
  const parts = remotes.map(({ swaggerHash }) => swaggerHash);
  const together = [...[...versions].map(([path, { hash }]) => `${path} ${hash}`), ...parts].join('\n');
  // A server of extensions alone stands behind an aggregator, which merges what it finds: it knows the paths from v3.
  const described = kinds === undefined ? [] : all;
  const publish = (encoding: string, make: () => Promise<Buffer>): Published => {
    const hash = createHash('sha512').update(`${encoding} ${FORMAT} ${gitVersion}\n${together}`).digest('hex');
    return { hash: hash.toUpperCase(), document: new IdleValue(make, IDLE_MS) };
  };
  const swagger = async (): Promise<object> => {
    const own = swaggerDocument(described, gitVersion);
    if (remotes.length === 0) return own;
    const { mergeSwagger } = await import('./merge-swagger.ts');
    return remotes.reduce<SwaggerPart>((merged, part) => mergeSwagger(merged, part.swagger), own);
  };
  const version2 = {
    json: publish('json', async () => await encoded(await swagger())),
    protobuf: publish('protobuf', async () => Buffer.from(await encodeSwagger(await swagger()))),
  };
  return { versions, version2: before?.version2.json.hash === version2.json.hash ? before.version2 : version2 };
}

function pathOf({ group, version }: GroupVersion): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}

function encoded(document: object): Promise<Buffer> {
  return Promise.resolve(Buffer.from(JSON.stringify(document)));
}

/**
 * Built-in schemas are what the server's version says; custom ones count with their text.
 *
 * @param hashes of custom schemas, which stay while other definitions come and go
 */
function hashOf(resources: readonly DescribedResource[], gitVersion: string, hashes: WeakMap<object, string>): string {
  const hash = createHash('sha256').update(`${FORMAT} ${gitVersion}`);
  for (const resource of resources) {
    const { type, subresources, verbs, listKind, selectableFields } = resource;
    const text = resource.storage === 'custom' ? textOf(resource.schema, hashes) : 'builtin';
    hash.update(JSON.stringify([type, listKind, verbs, subresources, selectableFields, text]));
  }
  return hash.digest('hex').toUpperCase();
}

function textOf(schema: OpenApiSchema | undefined, hashes: WeakMap<object, string>): string {
  if (schema === undefined) return '';
  const text = hashes.get(schema) ?? createHash('sha256').update(JSON.stringify(schema)).digest('hex');
  hashes.set(schema, text);
  return text;
}

async function answerVersion2(request: ApiRequest, { version2 }: Snapshot): Promise<ApiResponse> {
  for (const { type } of parseAccept(request.headers.accept)) {
    const offered = VERSION_2_TYPES.find(({ asked }) => covers(type, asked));
    if (offered === undefined) continue;
    const { hash, document } = version2[offered.encoding];
    const headers = { etag: `"${hash}"`, vary: 'Accept' };
    if (request.headers['if-none-match'] === headers.etag) return { status: 304, headers };
    const response = answerBytes(200, await document.get(), offered.served);
    Object.assign(response.headers, headers);
    return response;
  }
  return notAcceptable();
}

function index({ versions }: Snapshot) {
  const paths = Object.fromEntries(
    [...versions].map(([path, { hash }]) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }]),
  );
  return { paths };
}

async function answerVersion3(request: ApiRequest, { hash, document }: PublishedVersion): Promise<ApiResponse> {
  const etag = `"${hash}"`;
  const asked = request.query.get('hash');
  if (asked !== null && asked !== '' && asked !== hash) return toCurrent(request, hash);
  const forever = asked === hash;
  const headers = {
    etag,
    vary: 'Accept',
    'cache-control': forever ? 'public, immutable' : 'no-cache, private',
    ...(forever ? { expires: 'Fri, 31 Dec 9999 23:59:59 GMT' } : {}),
  };
  if (request.headers['if-none-match'] === etag) return { status: 304, headers };
  const response = answerBytes(200, await document.get());
  Object.assign(response.headers, headers);
  return response;
}

/** Who asks for a document by a hash of the past is sent to that of now, so that nobody keeps this one under that hash. */
function toCurrent({ path }: ApiRequest, hash: string): ApiResponse {
  return { status: 301, headers: { location: `${path.replace(/\/$/, '')}?hash=${hash}`, vary: 'Accept' } };
}

function accepts({ headers }: ApiRequest, mediaType: string): boolean {
  return parseAccept(headers.accept).some(({ type }) => covers(type, mediaType));
}

/** As upstream: no word. */
function notAcceptable(): ApiResponse {
  return { status: 406, headers: { vary: 'Accept' } };
}
