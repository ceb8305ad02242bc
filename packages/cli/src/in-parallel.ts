/**
 * Asks for each item, a few at once and none long before its answer is taken; the answers come with their items, in order. Rejects with
 * the first question that fails.
 */
export async function* inParallel<T, R>(
  items: Iterable<T> | AsyncIterable<T>,
  atOnce: number,
  ask: (item: T) => Promise<R>,
): AsyncGenerator<readonly [T, R]> {
  const pending: Promise<readonly [T, R]>[] = [];
  for await (const item of items) {
    const asked = ask(item).then((answer) => [item, answer] as const);
    asked.catch(() => {}); // told when its turn comes, if it does
    pending.push(asked);
    if (pending.length < atOnce) continue;
    const first = pending.shift();
    if (first) yield await first;
  }
  for (const each of pending) yield await each;
}
