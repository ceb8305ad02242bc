import { crc32 } from 'node:zlib';
import type { StorageKey } from '../contract/object-change.ts';

/**
 * The checksum of an object's row: it covers the key, the revision and the value. CRC-32 finds every flipped bit, every burst of up
 * to 32 bits, and all but one of four billion other changes. It finds damage, not tampering: a person who can write the file can
 * also compute it.
 */
export function rowChecksum(
  { groupResource, namespace, name }: StorageKey,
  revision: number | bigint,
  value: Uint8Array,
): number {
  return CHECKSUM_BASE + crc32(value, crc32(`${groupResource}\n${namespace}\n${name}\n${revision}\n`));
}

/** What the checksum of a logged change covers. The value before the change has a checksum of its own. */
export interface LoggedFields extends StorageKey {
  readonly revision: number | bigint;
  readonly type: string;
  readonly time: number | bigint;
  /** The revision before the change; 0 if the change created the object. */
  readonly expected: number | bigint;
}

export function eventChecksum({
  revision,
  groupResource,
  namespace,
  name,
  type,
  time,
  expected,
}: LoggedFields): number {
  return CHECKSUM_BASE + crc32(`${revision}\n${groupResource}\n${namespace}\n${name}\n${type}\n${time}\n${expected}`);
}

export function stateChecksum(key: string, value: number | bigint): number {
  return CHECKSUM_BASE + crc32(`${key}\n${value}`);
}

/** Added to each checksum: SQLite stores all numbers from here to twice this one in six bytes, and smaller ones in fewer. */
export const CHECKSUM_BASE = 2 ** 32;

/** A checksum that no row has: rows that were damaged before they had checksums get it. */
export const NO_CHECKSUM = -1;
