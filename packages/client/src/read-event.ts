import { type KubeObject, parseJson, type WatchEvent } from '@asterism/machinery';
import { JsonScanner } from './json-scanner.ts';
import type { ReadObjectOptions, SubtreePool } from './subtree-pool.ts';

/**
 * A watch event whose object was read with a pool; that of a bookmark or an error is as it came.
 *
 * @throws SyntaxError where the bytes are not JSON.
 */
export function readEvent(bytes: Buffer, pool: SubtreePool, options: ReadObjectOptions): WatchEvent<KubeObject> {
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
