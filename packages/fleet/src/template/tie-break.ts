/** Orders two clusters that are equal in everything else; negative when `a` goes first. */
export type TieBreak = (a: string, b: string) => number;

/** By code units, as Go compares strings; never by locale. */
export function byName(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * The order of clusters that have the same claim to a replica: by name, ascending for one half of all templates and
 * descending for the other, so that the rests of many divisions do not pile up on the first cluster of the alphabet.
 * Which half a template belongs to is the lowest bit of the 32-bit FNV-1a hash of its uid; no uid is ascending.
 */
export function tieBreakOf(uid: string | undefined): TieBreak {
  const descending = uid !== undefined && uid !== '' && fnv1a(uid) % 2 === 1;
  return descending ? (a, b) => byName(b, a) : byName;
}

/** 32-bit FNV-1a over the UTF-8 bytes of `text` (draft-eastlake-fnv). */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash;
}
