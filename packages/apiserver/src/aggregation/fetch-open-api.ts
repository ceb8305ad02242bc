import { createHash } from 'node:crypto';
import { type Headers, READ_LIMITS, type Transport } from '@asterism/client';
import { failure } from '@asterism/machinery';
import type { RemoteDescription, SwaggerPart } from '../openapi/remote-description.ts';
import { firstHeader } from '../contract/first-header.ts';
import { convertSwagger } from './convert-swagger.ts';
import { cutSwagger } from './cut-swagger.ts';
import { type Fetch, fetchJson } from './fetch-json.ts';

/** What a server behind this one says of the schemas of a group-version. */
export interface FetchedOpenApi {
  /** Of the whole v2 document that {@link swagger} was cut from. */
  etag: string | undefined;
  swagger: SwaggerPart | undefined;
  swaggerHash: string;
  /** Where its v3 document is; undefined where it has none. */
  version3: { path: string; hash: string } | undefined;
}

interface Index {
  paths?: Record<string, { serverRelativeURL?: string }>;
}

/** Reads v2 whole, unless nothing changed, and of v3 where it is. Rejects where the server does not answer. */
export async function fetchOpenApi(
  from: Pick<Fetch, 'transport' | 'signal'>,
  at: { group: string; version: string },
  known: FetchedOpenApi | undefined,
): Promise<FetchedOpenApi> {
  const json = { ...from, accept: 'application/json', limits: READ_LIMITS.openApi };
  const index = await fetchJson({ ...json, path: '/openapi/v3' });
  const version3 = index.status === 200 ? locate(index.value as Index, at) : undefined;
  const whole = await fetchJson({ ...json, path: '/openapi/v2', etag: known?.etag });
  if (whole.status === 304 && known !== undefined) return { ...known, version3 };
  if (whole.status !== 200) return { etag: undefined, swagger: undefined, swaggerHash: '', version3 };
  const swagger = cutSwagger(whole.value, at);
  const swaggerHash = createHash('sha256').update(JSON.stringify(swagger)).digest('hex').toUpperCase();
  return { etag: etagOf(whole.headers), swagger, swaggerHash, version3 };
}

/** For the documents of this server. Undefined where the other one says nothing of the group-version. */
export function describeRemote(
  { swagger, swaggerHash, version3 }: FetchedOpenApi,
  at: { group: string; version: string; connect(): Promise<Transport> },
): RemoteDescription | undefined {
  if (swagger === undefined && version3 === undefined) return undefined;
  const { group, version } = at;
  const read = async (path: string): Promise<object> => {
    const transport = await at.connect();
    const { signal } = new AbortController();
    const answer = await fetchJson({
      transport,
      path,
      accept: 'application/json',
      signal,
      limits: READ_LIMITS.openApi,
    });
    if (answer.status === 200 && typeof answer.value === 'object' && answer.value !== null) return answer.value;
    throw failure(503, `the API server that serves ${group}/${version} answered for its OpenAPI with ${answer.status}`);
  };
  return {
    group,
    version,
    hash: version3?.hash ?? swaggerHash,
    document: async () => (version3 === undefined ? convertSwagger(swagger!) : await read(version3.path)),
    swagger,
    swaggerHash,
  };
}

/** Only a path on the same server: what it says is not to lead anywhere else. */
function locate({ paths = {} }: Index, at: { group: string; version: string }): FetchedOpenApi['version3'] {
  const url = paths[`apis/${at.group}/${at.version}`]?.serverRelativeURL;
  if (typeof url !== 'string' || !url.startsWith('/openapi/v3/')) return undefined;
  const hash = new URLSearchParams(url.split('?')[1] ?? '').get('hash');
  return { path: url, hash: hash ?? createHash('sha256').update(url).digest('hex').toUpperCase() };
}

function etagOf(headers: Headers): string | undefined {
  return firstHeader(headers, 'etag');
}
