import type { IncomingMessage } from 'node:http';
import { badRequest, failure, jsonSyntaxFault, parseJson, type StatusError } from '@asterism/machinery';

/**
 * The JSON of a request's body.
 *
 * Rejects with 415 where it is of another type, with 413 where it is longer than `maxBytes`, with 400 where it is no JSON or does
 * not end. What is not read is left to the caller.
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
  const text = await readText(request, maxBytes);
  try {
    return parseJson(text);
  } catch (cause) {
    if (cause instanceof SyntaxError) throw badRequest(`the body is no JSON: ${jsonSyntaxFault(text)}`);
    throw cause;
  }
}

async function readText(request: IncomingMessage, maxBytes: number): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const onData = (piece: Buffer): void => {
    length += piece.length;
    if (length <= maxBytes) pieces.push(piece);
    else reject(tooLarge(maxBytes));
  };
  request.on('data', onData);
  request.once('end', () => resolve(Buffer.concat(pieces).toString('utf8')));
  request.once('error', reject);
  request.once('close', () => reject(badRequest('the body does not end')));
  try {
    return await promise;
  } finally {
    request.off('data', onData);
  }
}

function tooLarge(maxBytes: number): StatusError {
  return failure(413, `the review has more than ${maxBytes} bytes`);
}
