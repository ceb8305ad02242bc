import { parseJson } from '@asterism/machinery';
import type { Stored } from '../../contract/stored.ts';
import { encodeValue } from './answer.ts';
import type { ApiResponse } from '../../contract/api-request.ts';
import { type ListShape, listBody } from './list-body.ts';
import { type Encoding, MEDIA_TYPE } from './negotiate.ts';

/** A list put together from the bytes of its items; as YAML only by way of the whole. */
export async function answerList(items: readonly Stored[], shape: ListShape, encoding: Encoding): Promise<ApiResponse> {
  const { length, pieces } = listBody(items, shape);
  if (encoding !== 'yaml') {
    return {
      status: 200,
      headers: { 'content-type': MEDIA_TYPE.json, 'content-length': String(length) },
      body: pieces,
    };
  }
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return await encodeValue(200, parseJson(Buffer.concat(all).toString()) as object, 'yaml');
}
