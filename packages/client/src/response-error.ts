import { failure, parseJson, type Status, StatusError } from '@asterism/machinery';
import type { TransportRequest, TransportResponse } from './transport.ts';

/** An error body of more than this is no Status; the rest is not read. */
const MAX_BODY = 1024 * 1024;
const MAX_QUOTE = 200;

/**
 * The `StatusError` of an answer of 400 or more. A body that is no `Status` (a proxy's page, plain text) becomes one whose
 * cause is `UnexpectedServerResponse`, as client-go has it, so that a missing path can be told from a missing object.
 */
export async function responseError(request: TransportRequest, response: TransportResponse): Promise<StatusError> {
  const text = await readStart(response);
  const status = parseStatus(text);
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

/** The code alone says enough when the body cannot be read. */
async function readStart({ body }: TransportResponse): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_BODY) break;
    }
  } catch {
    return '';
  }
  return Buffer.concat(chunks).toString('utf8');
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
