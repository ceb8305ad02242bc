import type { WatchItem } from '../../registry/registry.ts';

/** An `ERROR` carries a Status in every representation. */
export function watchLine(item: WatchItem, transform: () => unknown): Buffer {
  if (item.type === 'ERROR') return item.line();
  return Buffer.from(`${JSON.stringify({ type: item.type, object: transform() })}\n`);
}
