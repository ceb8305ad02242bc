import { inGoOrder, inKeyOrder, isJsonObject, type KubeObject, setMember } from '@asterism/machinery';
import type { Patch } from './registry.ts';
import type { ServedVersion } from './served-version.ts';

/**
 * The JSON of a patched object as a kube-apiserver shows it when it cannot be decoded, before it is escaped: what the patch left alone in the order
 * of the Go structs, what it reached into with its keys sorted, and what came with it as it came.
 */
export function patchedText(resource: ServedVersion, live: KubeObject, patched: KubeObject, patch: Patch): string {
  const ordered = resource.storage === 'builtin' ? inGoOrder(live, resource.type) : inKeyOrder(live);
  const shown = new Map<unknown, unknown>();
  pair(live, ordered, shown);
  if (patch.type === 'json') keepAsGiven(patch.body, shown);
  return JSON.stringify(arrange(patched, shown));
}

/** Finds for every object and list in `live` its ordered copy. */
function pair(live: unknown, ordered: unknown, shown: Map<unknown, unknown>): void {
  if (typeof live !== 'object' || live === null) return;
  shown.set(live, ordered);
  for (const [key, member] of Object.entries(live)) pair(member, (ordered as Record<string, unknown>)[key], shown);
}

function keepAsGiven(value: unknown, shown: Map<unknown, unknown>): void {
  if (typeof value !== 'object' || value === null) return;
  shown.set(value, value);
  for (const member of Object.values(value)) keepAsGiven(member, shown);
}

function arrange(value: unknown, shown: ReadonlyMap<unknown, unknown>): unknown {
  const known = shown.get(value);
  if (known !== undefined) return known;
  if (Array.isArray(value)) return value.map((item) => arrange(item, shown));
  if (!isJsonObject(value)) return value;
  const sorted: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) setMember(sorted, key, arrange(value[key], shown));
  return sorted;
}
