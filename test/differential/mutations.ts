import type { Replacement } from './source-copy.ts';

/** A fault of our server, and the cases of which at least one has to turn red with it. */
export interface Mutation {
  name: string;
  replacements: readonly Replacement[];
  /** By their names. */
  cases: RegExp;
}

const DELETION = 'packages/apiserver/src/registry/is-deletion-complete.ts';
const COMMITTER = 'packages/apiserver/src/registry/commit-write.ts';
const READER = 'packages/apiserver/src/registry/object-reader.ts';
const DELETER = 'packages/apiserver/src/registry/object-deleter.ts';
const UPDATE = 'packages/apiserver/src/registry/prepare-update.ts';
const BROADCAST = 'packages/apiserver/src/registry/watch-broadcast.ts';
const APPLY = 'packages/machinery/src/apply';

function mutation(name: string, cases: RegExp, file: string, [find, replace]: readonly [string, string]): Mutation {
  return { name, cases, replacements: [{ file, find, replace }] };
}

/** Each is one way in which a server could be subtly wrong. */
export const MUTATIONS: readonly Mutation[] = [
  mutation('a conflict between appliers is dropped', /^verbs-apply-(configmap|lease)/, `${APPLY}/apply-object.ts`, [
    'if (conflicts.length > 0) return',
    'if (conflicts.length > 1000) return',
  ]),
  mutation('the bookmark after the initial events is forgotten', /^verbs-watch-initial/, READER, [
    '? [bookmarkItem(resource, now, true)] : []',
    '? [] : []',
  ]),
  mutation('an atomic list is merged', /^(crd-apply|verbs-apply-deployment)/, `${APPLY}/value-kind.ts`, [
    "return schema.listType === 'atomic';",
    "return schema.listType === 'atomic' && schema.items?.type !== 'string';",
  ]),
  mutation('pruning is skipped', /^crd-(life|schema-\d)/, 'packages/apiserver/src/registry/decode-object.ts', [
    'const paths = pruneUnknown(draft, schema);',
    'const paths: string[] = schema ? [] : pruneUnknown(draft, schema);',
  ]),
  mutation('the uid that a delete expects is ignored', /^verbs-delete/, DELETER, [
    'preconditions.uid !== uid',
    "preconditions.uid === ''",
  ]),
  mutation('a deletion is not told to watchers', /^verbs-watch-configmap/, BROADCAST, [
    "return before ? (this.#deleted ??= this.#item('DELETED', object)) : undefined;",
    'return undefined;',
  ]),
  mutation('what leaves a selector is not told', /^verbs-watch-(configmap|secret)/, BROADCAST, [
    'if (!before) return undefined;',
    'return undefined;',
  ]),
  mutation('what enters a selector is told as a modification', /^verbs-watch-(configmap|secret)/, BROADCAST, [
    ": (this.#added ??= this.#item('ADDED', object));",
    ": (this.#added ??= this.#item(previous ? 'MODIFIED' : 'ADDED', object));",
  ]),
  mutation('nobody owns what an update changed', /^verbs-merge/, `${APPLY}/update-managed-fields.ts`, [
    'if (isEmptySet(fields)) return capUpdaters(left);',
    'if (!isEmptySet(fields) || isEmptySet(fields)) return capUpdaters(left);',
  ]),
  mutation('another status code for what exists already', /^verbs-create/, COMMITTER, [
    'if (this.#store.get(resource.groupResource, namespace, name)) return false;',
    'if (this.#store.get(resource.groupResource, namespace, name)) throw new RangeError(name);',
  ]),
  mutation('a dry run is not dry', /^verbs-dry-run/, COMMITTER, [
    'if (dryRun) {',
    'if (dryRun && current !== undefined) {',
  ]),
  mutation('the generation is not raised', /^(kinds-deployment-life|crd-life)/, UPDATE, [
    'draft.metadata.generation = generation + 1;',
    'draft.metadata.generation = generation;',
  ]),
  mutation('a page of a list begins one too late', /^storage-(configmap|secret)/, READER, [
    'start: next.slice(selection.prefix.length) })',
    'start: `${next.slice(selection.prefix.length)}\\0` })',
  ]),
  mutation('the pages of a list are of several moments', /^storage-/, READER, [
    'token ? token.revision :',
    'token ? now :',
  ]),
  mutation(
    'an old version may be written over',
    /^(verbs-update|storage-configmap)/,
    'packages/apiserver/src/registry/require-seen.ts',
    [
      'if (conditional && resourceVersion !== current.resourceVersion) throw',
      'if (conditional && resourceVersion > String(current.resourceVersion)) throw',
    ],
  ),
  mutation('finalizers do not hold', /^verbs-(finalizers|collection)/, DELETION, [
    '(metadata.finalizers?.length ?? 0) > 0',
    '(metadata.finalizers?.length ?? 0) > 100',
  ]),
  mutation('null in a merge patch is a value', /^verbs-merge/, 'packages/machinery/src/merge-patch.ts', [
    'if (value === null) delete result[key];',
    'if (value === undefined) delete result[key];',
  ]),
  mutation('the main resource writes the status', /^(kinds-deployment-status|crd-subresources)/, UPDATE, [
    "if (resource.hasSubresource('status')) putBack(draft, old, 'status');",
    '',
  ]),
  mutation(
    'the delete directive of a strategic merge is overlooked',
    /^verbs-strategic/,
    'packages/machinery/src/strategic-merge-patch.ts',
    [
      "else if (directive === 'delete') deleted.add(identify(item, mergeKey));",
      "else if (directive === 'delete') identify(item, mergeKey);",
    ],
  ),
  mutation(
    'defaults of a schema are skipped',
    /^crd-(life|schema)/,
    'packages/apiserver/src/registry/default-object.ts',
    ["if (resource.structural && resource.storage === 'custom') applyDefaults(draft, resource.structural);", ''],
  ),
  mutation(
    'faults are not refused',
    /^kinds-(service|role)-invalid/,
    'packages/apiserver/src/registry/object-validator.ts',
    ['if (faults.length > 0) throw invalidObject(', 'if (faults.length > 1000) throw invalidObject('],
  ),
  mutation('grace can be prolonged', /^verbs-grace/, DELETER, ['&& grace < granted;', '&& grace !== granted;']),
  mutation(
    'objects are made in namespaces that are not there',
    /^verbs-create/,
    'packages/apiserver/src/registry/require-creatable.ts',
    ['if (!found) throw notFound(NAMESPACES, namespace);', 'if (!found) return;'],
  ),
  mutation(
    '"notin" wants the label to be there',
    /^verbs-(labels|watch)-configmap/,
    'packages/machinery/src/label-operator.ts',
    [
      'return value === undefined || !values.includes(value);',
      'return value !== undefined && !values.includes(value);',
    ],
  ),
];
