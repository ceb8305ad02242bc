import type { FieldsV1 } from '../object.ts';

/**
 * A set of fields in the very form in which `managedFields` store it (`fieldsV1`): a trie of path elements. A node is a
 * member of the set if it has the element `.` or no element at all; a node that only has others stands for its children.
 *
 * Sets are never changed; operations share what they can. Elements are compared as text, see `path-element.ts`.
 */
export type FieldSet = Readonly<FieldsV1>;

const LEAF: FieldSet = Object.freeze({});

export const EMPTY_SET: FieldSet = LEAF;

export function isEmptySet(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** Whether the node below `element` is a member. */
export function isMember(node: FieldSet): boolean {
  return node['.'] !== undefined || isEmptySet(node);
}

/** Whether there is anything below the node. */
export function hasChildren(node: FieldSet): boolean {
  for (const element in node) if (element !== '.') return true;
  return false;
}

/**
 * A node with these children, whose `.` does not count; undefined where it would neither be a member nor have any. Takes
 * `children` over.
 */
export function makeNode(member: boolean, children: Record<string, FieldSet> | undefined): FieldSet | undefined {
  if (!children || !hasChildren(children)) return member ? LEAF : undefined;
  if (member) children['.'] = LEAF;
  else delete children['.'];
  return children;
}

/** The set of one path and whatever `node` has below it. */
export function setOfPath(path: readonly string[], node: FieldSet = LEAF): FieldSet {
  return path.reduceRight<FieldSet>((below, element) => ({ [element]: below }), node);
}

export function unionSets(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(b)) return a;
  if (isEmptySet(a)) return b;
  const union: Record<string, FieldSet> = {};
  for (const element in a) {
    const other = b[element];
    if (element !== '.') union[element] = other ? unionNodes(a[element]!, other) : a[element]!;
  }
  for (const element in b) if (element !== '.' && !a[element]) union[element] = b[element]!;
  return union;
}

/** The union of many, by halves: one after the other would copy what is there already for each of them. */
export function unionOfSets(sets: readonly FieldSet[]): FieldSet {
  if (sets.length <= 2) return unionSets(sets[0] ?? EMPTY_SET, sets[1] ?? EMPTY_SET);
  const half = sets.length >> 1;
  return unionSets(unionOfSets(sets.slice(0, half)), unionOfSets(sets.slice(half)));
}

/** The union of two nodes at the same place, members or not. */
export function unionNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  return makeNode(isMember(a) || isMember(b), { ...unionSets(a, b) }) ?? LEAF;
}

export function intersectSets(a: FieldSet, b: FieldSet): FieldSet {
  const intersection: Record<string, FieldSet> = {};
  for (const element in a) {
    const other = b[element];
    if (element === '.' || !other) continue;
    const node = a[element]!;
    const common = makeNode(isMember(node) && isMember(other), { ...intersectSets(node, other) });
    if (common) intersection[element] = common;
  }
  return intersection;
}

/** What is in `a` and not in `b`; a child of a member of `b` stays. */
export function subtractSets(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(b)) return a;
  const difference: Record<string, FieldSet> = {};
  for (const element in a) {
    if (element === '.') continue;
    const node = a[element]!;
    const other = b[element];
    const left = other ? makeNode(isMember(node) && !isMember(other), { ...subtractSets(node, other) }) : node;
    if (left) difference[element] = left;
  }
  return difference;
}

/** What is in `a` and neither in `b` nor below a member of `b`. */
export function subtractTrees(a: FieldSet, b: FieldSet): FieldSet {
  const difference: Record<string, FieldSet> = {};
  for (const element in a) {
    if (element === '.') continue;
    const node = a[element]!;
    const other = b[element];
    if (other && isMember(other)) continue;
    const left = other ? makeNode(isMember(node), { ...subtractTrees(node, other) }) : node;
    if (left) difference[element] = left;
  }
  return difference;
}

/** The paths of all members: those of a level before what is below it. */
export function* pathsOf(set: FieldSet, prefix: readonly string[] = []): Generator<readonly string[]> {
  const elements = Object.keys(set)
    .filter((element) => element !== '.')
    .sort();
  for (const element of elements) if (isMember(set[element]!)) yield [...prefix, element];
  for (const element of elements) yield* pathsOf(set[element]!, [...prefix, element]);
}

export function hasPath(set: FieldSet, path: readonly string[]): boolean {
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node[element];
    if (!node) return false;
  }
  return path.length > 0 && isMember(node);
}
