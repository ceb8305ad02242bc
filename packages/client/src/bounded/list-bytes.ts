const bytes = new WeakMap<object, number>();

/** Notes how many bytes the answer had that a list was read from. */
export function noteListBytes(list: object, length: number): void {
  bytes.set(list, length);
}

/** How many bytes a list had on the wire; 0 for one that no client of this package has read. */
export function listBytes(list: object): number {
  return bytes.get(list) ?? 0;
}
