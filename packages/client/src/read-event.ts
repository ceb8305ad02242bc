import { type KubeObject, parseJson, type WatchEvent } from '@asterism/machinery';
import { checkJson } from './bounded/check-json.ts';
import { READ_LIMITS } from './bounded/read-limits.ts';
import { CLOSE_BRACE } from './json-bytes.ts';
import { JsonScanner } from './json-scanner.ts';
import type { ReadObjectOptions, SubtreePool } from './subtree-pool.ts';

/** How a server begins an event of an object, by the first letter of its type. */
const HEADS = new Map(
  (['ADDED', 'MODIFIED', 'DELETED'] as const).map((type) => [
    type.charCodeAt(0),
    { type, text: `{"type":"${type}","object":` },
  ]),
);
const TYPE_AT = '{"type":"'.length;

/**
 * A watch event whose object was read with a pool; that of a bookmark or an error is as it came.
 *
 * @throws SyntaxError where the bytes are not JSON.
 */
export function readEvent(bytes: Buffer, pool: SubtreePool, options: ReadObjectOptions): WatchEvent<KubeObject> {
  const head = HEADS.get(bytes[TYPE_AT] ?? 0);
  if (head && bytes.toString('latin1', 0, head.text.length) === head.text) {
    const { value: object, end } = pool.read(bytes, head.text.length, options);
    if (end === bytes.length - 1 && bytes[end] === CLOSE_BRACE) return { type: head.type, object } as WatchEvent;
  }
  return readAnyEvent(bytes, pool, options);
}

function readAnyEvent(bytes: Buffer, pool: SubtreePool, options: ReadObjectOptions): WatchEvent<KubeObject> {
  checkJson(bytes, 'the server', READ_LIMITS.line);
  const scanner = new JsonScanner(bytes);
  if (!scanner.find('object')) return parseJson(bytes.toString()) as WatchEvent;
  scanner.peek();
  const begin = scanner.at;
  const before = bytes.toString('latin1', 0, begin);
  if (before.includes('"BOOKMARK"') || before.includes('"ERROR"')) return parseJson(bytes.toString()) as WatchEvent;
  const { value: object, end } = pool.read(bytes, begin, options);
  const { type } = parseJson(`${before}null${bytes.toString('latin1', end)}`) as WatchEvent;
  // Where the type came behind the object.
  if (type === 'BOOKMARK' || type === 'ERROR') return parseJson(bytes.toString()) as WatchEvent;
  return { type, object } as WatchEvent;
}
