/**
 * A function that says of each value whether it was asked about before: which items of a list repeat an earlier one, in one pass.
 * `list.indexOf(item) < index` finds the same in quadratic time.
 */
export function seenBefore<T>(): (value: T) => boolean {
  const seen = new Set<T>();
  return (value) => {
    const before = seen.size;
    seen.add(value);
    return seen.size === before;
  };
}
