import { constants, createGzip, gzip } from 'node:zlib';
import { pipeline, Readable } from 'node:stream';
import type { ApiRequest, ApiResponse } from '../../contract/api-request.ts';

/** Smaller answers leave as they are, as upstream (`defaultGzipThresholdBytes`). */
const THRESHOLD_BYTES = 128 * 1024;
/** The fastest level: on a list it halves the time that the next ones need for a few per cent more bytes. */
const LEVEL = constants.Z_BEST_SPEED;

/** Compresses a large answer of known length where the client takes gzip; streams without a length (watches) stay. */
export async function compress(request: ApiRequest, response: ApiResponse): Promise<ApiResponse> {
  const length = Number(response.headers['content-length'] ?? 0);
  if (length < THRESHOLD_BYTES || response.body === undefined || response.headers['content-encoding']) return response;
  if (!acceptsGzip(request.headers['accept-encoding'])) return response;
  const { 'content-length': _, ...headers } = response.headers;
  const compressed = { ...headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' };
  if (response.body instanceof Uint8Array) {
    const body = await gzipBytes(response.body);
    return { status: response.status, headers: { ...compressed, 'content-length': String(body.length) }, body };
  }
  return { status: response.status, headers: compressed, body: gzipStream(response.body) };
}

function gzipBytes(bytes: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    gzip(bytes, { level: LEVEL }, (error, compressed) => (error ? reject(error) : resolve(compressed)));
  });
}

/** Ends with its source: when the reader leaves, so does the source; an error of the source reaches the reader. */
function gzipStream(source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return pipeline(Readable.from(source, { objectMode: false }), createGzip({ level: LEVEL }), () => {});
}

function acceptsGzip(header: string | string[] | undefined): boolean {
  const text = Array.isArray(header) ? header.join(',') : (header ?? '');
  return text.split(',').some((coding) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(coding));
}
