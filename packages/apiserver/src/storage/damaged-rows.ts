import type { StorageKey } from '../contract/object-change.ts';

/** A message names so many; the rest are counted. */
const NAMED = 20;

/** `secrets "victim" in namespace "default"`. */
export function formatRow({ groupResource, namespace, name }: StorageKey): string {
  const resource = /^[\w.-]+$/.test(groupResource) ? groupResource : JSON.stringify(groupResource);
  return `${resource} ${JSON.stringify(name)}${namespace === '' ? '' : ` in namespace ${JSON.stringify(namespace)}`}`;
}

/** The names of damaged rows, and never anything of what is in them. */
export function formatDamagedRows(rows: readonly StorageKey[]): string {
  const named = rows.slice(0, NAMED).map(formatRow).join(', ');
  return rows.length > NAMED ? `${named} and ${rows.length - NAMED} more` : named;
}
