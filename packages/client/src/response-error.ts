import { failure, parseJson, type Status, StatusError } from '@asterism/machinery';
import { measureJson } from './bounded/check-json.ts';
import { READ_LIMITS } from './bounded/read-limits.ts';
import { readStart } from './read-body.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

const MAX_QUOTE = 200;

/**
 * The `StatusError` of an answer of 400 or more. A body that is no `Status` (a proxy's page, plain text) becomes one whose
 * cause is `UnexpectedServerResponse`, as client-go has it, so that a missing path can be told from a missing object.
 */
export async function responseError(request: TransportRequest, response: TransportResponse): Promise<StatusError> {
  const bytes = response.bytes?.subarray(0, READ_LIMITS.error.maxBytes) ?? (await readStart(response.body, ''));
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  const status = isFlat(bytes) ? parseStatus(text) : undefined;
  const retryAfter = retryAfterSeconds(response);
  const details = retryAfter === undefined ? {} : { retryAfterSeconds: retryAfter };
  if (status) {
    return new StatusError({
      ...status,
      code: status.code ?? response.status,
      ...(status.details || retryAfter !== undefined ? { details: { ...details, ...status.details } } : {}),
    });
  }
  const quote = text.trim().slice(0, MAX_QUOTE);
  const said = `${request.method} ${request.path.replace(/\?.*/, '')}: the server answered ${response.status}`;
  return failure(response.status, quote ? `${said}: ${quote}` : said, {
    details: { ...details, causes: [{ reason: 'UnexpectedServerResponse', message: quote }] },
  });
}

/** A Status has few levels. What has more is shown as text. */
function isFlat(bytes: Uint8Array): boolean {
  const { maxDepth, maxItems } = READ_LIMITS.error;
  const { depth, items } = measureJson(bytes, READ_LIMITS.error);
  return depth <= maxDepth && items <= maxItems;
}

function parseStatus(text: string): Status | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const body = parseJson(text) as Status;
    return body.kind === 'Status' ? body : undefined;
  } catch {
    return undefined;
  }
}

/** Kubernetes sends seconds; a date, which HTTP also allows, would need clocks that agree. */
function retryAfterSeconds({ headers }: TransportResponse): number | undefined {
  const value = headers['retry-after'];
  if (typeof value !== 'string') return undefined;
  const seconds = Number(value);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}
