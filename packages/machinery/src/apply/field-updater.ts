import type { KubeObject } from '../object.ts';
import type { StructuralSchema } from '../schema/structural-schema.ts';
import { compareObjects } from './compare-objects.ts';
import { type FieldOwner, type FieldOwners, ownerId } from './field-owners.ts';
import {
  EMPTY_SET,
  type FieldSet,
  intersectSets,
  isEmptySet,
  setOfPath,
  subtractSets,
  subtractTrees,
  unionSets,
} from './field-set.ts';
import { underSchema, withNamedFields } from './field-set-schema.ts';
import { fieldElement } from './path-element.ts';
import { removeFields } from './remove-fields.ts';
import { fieldSetOf } from './to-field-set.ts';

/** How an object looks in another version of its group. */
export interface ObjectVersion {
  schema: StructuralSchema;
  /** The object, in whatever version it comes, in this one. */
  convert(object: KubeObject): KubeObject;
}

/** What applying and updating need to know about who writes and what is written. */
export interface FieldTracking {
  /** Who writes: the `fieldManager` of the request, or what stands for it. */
  manager: string;
  /** Now, in RFC 3339 and whole seconds: `2026-01-01T00:00:00Z`. */
  time: string;
  /** The schema of the kind in the version of the request. */
  schema: StructuralSchema;
  /** The version of the request; the object's own unless given. */
  apiVersion?: string;
  subresource?: string;
  /**
   * Paths that this endpoint resets, so that nobody comes to own them here: `[['status']]` for a resource that has a status
   * subresource, `[['spec']]` for that subresource.
   */
  resetFields?: readonly (readonly string[])[];
  /**
   * Fields that the object states as an empty list, where the server keeps and shows none: stating that is a change each time.
   */
  emptied?: readonly (readonly string[])[];
  /**
   * Other versions in which managers may have written; undefined for one that is no longer served: its entries go. Without
   * this function the object looks the same in every version.
   */
  versions?(apiVersion: string): ObjectVersion | undefined;
}

/** Fields that the server sets or that identify the object: nobody owns them. */
const UNTRACKED: FieldSet = {
  'f:apiVersion': {},
  'f:kind': {},
  'f:metadata': {
    '.': {},
    'f:clusterName': {},
    'f:creationTimestamp': {},
    'f:generation': {},
    'f:managedFields': {},
    'f:name': {},
    'f:namespace': {},
    'f:resourceVersion': {},
    'f:selfLink': {},
    'f:uid': {},
  },
};

/** The fields that an object gained or got another value of, and those that it lost. */
export interface Change {
  changed: FieldSet;
  removed: FieldSet;
}

/** The part of structured-merge-diff's updater that appliers and updaters share, for one request. */
export class FieldUpdater {
  readonly apiVersion: string;
  readonly #tracking: FieldTracking;
  readonly #reset: FieldSet;
  readonly #emptied: FieldSet;
  readonly #versions = new Map<string, ObjectVersion | undefined>();
  #compared: { before: KubeObject; after: KubeObject; changes: Map<string, Change | undefined> } | undefined;

  constructor(tracking: FieldTracking, apiVersion: string) {
    this.#tracking = tracking;
    this.apiVersion = apiVersion;
    this.#versions.set(apiVersion, {
      schema: tracking.schema,
      convert: (object) => {
        if (object.apiVersion === undefined || object.apiVersion === apiVersion) return object;
        return tracking.versions?.(apiVersion)?.convert(object) ?? object;
      },
    });
    this.#reset = setOfPaths(tracking.resetFields);
    this.#emptied = setOfPaths(tracking.emptied);
  }

  /** Undefined where the version is no longer served. */
  version(apiVersion: string): ObjectVersion | undefined {
    if (!this.#versions.has(apiVersion)) {
      const { versions, schema } = this.#tracking;
      this.#versions.set(apiVersion, versions ? versions(apiVersion) : { schema, convert: (object) => object });
    }
    return this.#versions.get(apiVersion);
  }

  /** Without the fields that this endpoint resets. */
  withoutReset(fields: FieldSet): FieldSet {
    return isEmptySet(this.#reset) ? fields : subtractTrees(fields, this.#reset);
  }

  /** Without the fields that are never tracked. */
  withoutUntracked(fields: FieldSet): FieldSet {
    return subtractSets(fields, UNTRACKED);
  }

  /** The owners with their sets read under today's schema; entries of versions that are gone are left out. */
  reconcile(owners: FieldOwners): FieldOwners {
    const reconciled: FieldOwners = new Map();
    for (const [id, owner] of owners) {
      const version = this.version(owner.apiVersion);
      if (!version) continue;
      // Schemas of built-in kinds never become stricter.
      const fields = version.schema.builtin ? owner.fields : underSchema(owner.fields, version.schema);
      reconciled.set(id, fields === owner.fields ? owner : { ...owner, fields });
    }
    return reconciled;
  }

  /** How the object changes, in a version; found once for the same two objects. */
  compare(before: KubeObject, after: KubeObject, apiVersion: string): Change | undefined {
    if (this.#compared?.before !== before || this.#compared.after !== after) {
      this.#compared = { before, after, changes: new Map() };
    }
    const { changes } = this.#compared;
    if (!changes.has(apiVersion)) changes.set(apiVersion, this.#change(before, after, apiVersion));
    return changes.get(apiVersion);
  }

  #change(before: KubeObject, after: KubeObject, apiVersion: string): Change | undefined {
    const version = this.version(apiVersion);
    if (!version) return undefined;
    const { added, modified, removed } = compareObjects(
      version.convert(before),
      version.convert(after),
      version.schema,
    );
    return {
      changed: this.withoutReset(unionSets(unionSets(modified, added), this.#emptied)),
      removed: this.withoutReset(removed),
    };
  }

  /**
   * What becomes of the owners other than `writer` when the object changes: nobody owns any longer what was removed, and
   * `taken` are the fields that the writer takes from each.
   */
  transfer(
    before: KubeObject,
    after: KubeObject,
    owners: FieldOwners,
    writer: string | undefined,
  ): { left: FieldOwners; taken: { owner: FieldOwner; fields: FieldSet }[] } {
    const left: FieldOwners = new Map();
    const taken: { id: string; owner: FieldOwner; fields: FieldSet }[] = [];
    for (const [id, owner] of owners) {
      if (id === writer) {
        left.set(id, owner);
        continue;
      }
      const comparison = this.compare(before, after, owner.apiVersion);
      if (!comparison) continue;
      const lost = intersectSets(owner.fields, comparison.changed);
      const isLosing = !isEmptySet(lost);
      if (isLosing) taken.push({ id, owner, fields: lost });
      const kept = isLosing ? subtractSets(owner.fields, lost) : owner.fields;
      const fields = subtractSets(kept, comparison.removed);
      if (fields === owner.fields) left.set(id, owner);
      else if (!isEmptySet(fields)) left.set(id, { ...owner, fields });
    }
    return { left, taken: taken.sort((a, b) => (a.id < b.id ? -1 : 1)) };
  }

  /**
   * Removes from the merged object what an applier applied last time, does not apply any more, and nobody else owns.
   *
   * @param owners with the applier's new set.
   * @returns the object to store, and the object to compare, in which what lost all its content is null and not absent: who
   * owns a container goes on owning it.
   */
  prune(
    merged: KubeObject,
    owners: FieldOwners,
    last: FieldOwner | undefined,
  ): { object: KubeObject; compared: KubeObject } {
    const version = last && this.version(last.apiVersion);
    if (!last || !version || isEmptySet(last.fields)) return { object: merged, compared: merged };
    const stated = owners.get(ownerId(last))?.fields;
    if (stated && isEmptySet(subtractSets(last.fields, stated))) return { object: merged, compared: merged };
    const { schema } = version;
    const applied = withNamedFields(last.fields, schema);
    const before = version.convert(merged);
    let pruned = removeFields(before, applied, schema, null) as KubeObject;
    for (const [apiVersion, fields] of this.#ownedByVersion(owners, last.apiVersion)) {
      pruned = this.#addBackOwned(merged, pruned, apiVersion, fields, last.apiVersion);
    }
    const gone = subtractSets(statedBy(before, schema), statedBy(pruned, schema));
    const unwanted = intersectSets(gone, applied);
    const without = (emptied: null | undefined) =>
      this.version(this.apiVersion)!.convert(removeFields(before, unwanted, schema, emptied) as KubeObject);
    return { object: without(undefined), compared: without(null) };
  }

  /** The fields that anybody owns, by version, the given version first. */
  #ownedByVersion(owners: FieldOwners, first: string): Map<string, FieldSet> {
    const owned = new Map<string, FieldSet>([[first, EMPTY_SET]]);
    for (const { apiVersion, fields } of owners.values()) {
      owned.set(apiVersion, unionSets(owned.get(apiVersion) ?? EMPTY_SET, fields));
    }
    return owned;
  }

  #addBackOwned(
    merged: KubeObject,
    pruned: KubeObject,
    apiVersion: string,
    owned: FieldSet,
    backTo: string,
  ): KubeObject {
    const version = this.version(apiVersion);
    if (!version) return pruned;
    const { schema } = version;
    const whole = version.convert(merged);
    const kept = unionSets(statedBy(version.convert(pruned), schema), withNamedFields(owned, schema));
    const result = removeFields(whole, subtractSets(statedBy(whole, schema), kept), schema, null) as KubeObject;
    return this.version(backTo)!.convert(result);
  }
}

function setOfPaths(paths: readonly (readonly string[])[] = []): FieldSet {
  return paths.map((path) => setOfPath(path.map(fieldElement))).reduce(unionSets, EMPTY_SET);
}

function statedBy(object: KubeObject, schema: StructuralSchema): FieldSet {
  return withNamedFields(fieldSetOf(object, schema), schema);
}
