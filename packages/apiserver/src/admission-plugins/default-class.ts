import type { KubeObject } from '@asterism/machinery';
import type { ObjectStore } from '../storage/object-store.ts';

/**
 * The class that is marked as the default by one of the annotations: of several the newest, of those as old the first by name,
 * as upstream.
 */
export function defaultClassOf(
  store: ObjectStore,
  groupResource: string,
  annotations: readonly string[],
): KubeObject | undefined {
  const classes = store.cache(groupResource);
  if (classes.size === 0) return undefined;
  let newest: KubeObject | undefined;
  // In the order of names.
  for (const [, stored] of classes.entries('', '')) {
    const each = stored.parse();
    if (!annotations.some((annotation) => each.metadata?.annotations?.[annotation] === 'true')) continue;
    if (newest === undefined || createdAt(each) > createdAt(newest)) newest = each;
  }
  return newest;
}

function createdAt({ metadata }: KubeObject): number {
  return Date.parse(metadata?.creationTimestamp ?? '') || 0;
}
