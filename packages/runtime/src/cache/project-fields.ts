import type { KubeObject } from '@asterism/machinery';

/** What is kept of an object, by member; an empty one keeps all of it. */
interface Kept {
  readonly [member: string]: Kept;
}

/**
 * What makes of an object one that has only `apiVersion`, `kind`, `metadata` and the fields named: `spec.nodeName`. Of an array,
 * the field of every element: `spec.containers.image`. What is kept whole is not copied; what is new
 * is frozen, the object given is not changed.
 */
export function projectFields<T extends KubeObject>(fields: readonly string[]): (object: T) => T {
  const kept = treeOf(['apiVersion', 'kind', 'metadata', ...fields]);
  return (object) => project(object, kept) as T;
}

function treeOf(paths: readonly string[]): Kept {
  const heads = new Map<string, string[]>();
  for (const path of paths) {
    const [head = '', ...rest] = path.split('.');
    heads.set(head, [...(heads.get(head) ?? []), rest.join('.')]);
  }
  return Object.fromEntries(
    // One that keeps all of a member makes the others for it needless.
    [...heads].map(([head, rests]) => [head, rests.includes('') ? {} : treeOf(rests)]),
  );
}

function project(value: unknown, kept: Kept): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map((element) => project(element, kept)));
  const members = Object.keys(kept);
  if (members.length === 0 || typeof value !== 'object' || value === null) return value;
  const object = value as Record<string, unknown>;
  const present = members.filter((member) => Object.hasOwn(object, member));
  return Object.freeze(Object.fromEntries(present.map((name) => [name, project(object[name], kept[name] as Kept)])));
}
