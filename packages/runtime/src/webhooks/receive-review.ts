import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { checkJson, isTooLarge, READ_LIMITS, readBody, ReadLimitError } from '@asterism/client';
import { badRequest, failure, jsonSyntaxFault, parseJson, type StatusError } from '@asterism/machinery';

/**
 * The JSON of a request's body.
 *
 * Rejects with 415 where it is of another type, with 413 where it is longer than `maxBytes`, with 400 where it is no JSON, is nested
 * too deeply, or does not end. The rest of a body that was refused is not read.
 */
export async function receiveReview(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const {
    'content-type': type = '',
    'content-encoding': encoding = 'identity',
    'content-length': length,
  } = request.headers;
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw failure(415, `reviews are of type application/json, not ${JSON.stringify(type.slice(0, 100))}`);
  }
  if (encoding !== 'identity') throw failure(415, 'reviews are not compressed');
  if (Number(length ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const text = (await readReview(request, maxBytes)).toString();
  try {
    return parseJson(text);
  } catch (cause) {
    if (cause instanceof SyntaxError) throw badRequest(`the body is no JSON: ${jsonSyntaxFault(text)}`);
    throw cause;
  }
}

async function readReview(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const limits = { ...READ_LIMITS.webhook, use: 'review', maxBytes };
  // The request stays open, so that it can be answered.
  const pieces = request.iterator({ destroyOnReturn: false });
  const body = Readable.from(pieces, { objectMode: false });
  try {
    const bytes = await readBody(body, 'the API server', { limits });
    checkJson(bytes, 'the API server', limits);
    return bytes;
  } catch (error) {
    if (isTooLarge(error)) throw tooLarge(maxBytes);
    if (error instanceof ReadLimitError) throw badRequest(error.message);
    throw badRequest('the body does not end');
  }
}

function tooLarge(maxBytes: number): StatusError {
  return failure(413, `the review has more than ${maxBytes} bytes`);
}
