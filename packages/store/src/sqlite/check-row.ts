import type { ObjectRow } from '../row.ts';
import { StoreError } from '../store-error.ts';

/** @throws StoreError `INVALID_ROW` that names the row and the part. Whether the object is JSON the database finds out. */
export function checkRow(row: ObjectRow): void {
  if (row.name === '') throw invalidRow(row, 'name: it is empty');
  if (!Number.isSafeInteger(row.createdAt)) {
    throw invalidRow(row, `createdAt: ${row.createdAt} is no whole number of milliseconds`);
  }
}

export function invalidRow({ kind, namespace, name }: ObjectRow, why: string): StoreError {
  const key = namespace === '' ? name : `${namespace}/${name}`;
  return new StoreError('INVALID_ROW', `${kind} ${JSON.stringify(key)}: ${why}`);
}
