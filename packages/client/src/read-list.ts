import { type KubeList, type KubeObject, parseJson } from '@asterism/machinery';
import { checkJson } from './bounded/check-json.ts';
import { READ_LIMITS } from './bounded/read-limits.ts';
import { JsonScanner } from './json-scanner.ts';
import type { ReadObjectOptions, SubtreePool } from './subtree-pool.ts';
import { CLOSE_BRACKET, COMMA, OPEN_BRACKET } from './json-bytes.ts';

/**
 * A list whose items were read with a pool, in slices of 5 ms, so that a large one holds nobody up. Rejects with a SyntaxError
 * where the bytes are not JSON.
 */
export async function readList(
  bytes: Buffer,
  pool: SubtreePool,
  options: ReadObjectOptions,
): Promise<KubeList<KubeObject>> {
  const scanner = new JsonScanner(bytes);
  if (!scanner.find('items') || scanner.peek() !== OPEN_BRACKET) {
    checkJson(bytes, 'the server', READ_LIMITS.list);
    return { items: [], ...without(parseJson(bytes.toString()) as KubeList, 'items') };
  }
  const begin = scanner.at;
  const items: KubeObject[] = [];
  scanner.moveTo(begin + 1);
  while (scanner.peek() !== CLOSE_BRACKET) {
    if (items.length > 0) {
      if (scanner.peek() !== COMMA) throw new SyntaxError('a list is not JSON');
      scanner.moveTo(scanner.at + 1);
      scanner.peek();
    }
    const { value, end } = pool.read(bytes, scanner.at, options);
    items.push(value as KubeObject);
    scanner.moveTo(end);
    const turn = pool.turns.next();
    if (turn) await turn;
  }
  const around = `${bytes.toString('utf8', 0, begin)}[]${bytes.toString('utf8', scanner.at + 1)}`;
  checkJson(Buffer.from(around), 'the server', READ_LIMITS.list);
  return { ...(parseJson(around) as KubeList), items };
}

/** Go writes an empty list as null. */
function without<T extends object>(list: T, name: keyof T): Partial<T> {
  const { [name]: value, ...rest } = list;
  return value === null || value === undefined ? (rest as Partial<T>) : list;
}
