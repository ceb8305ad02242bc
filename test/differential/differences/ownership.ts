import { isJsonObject } from '@asterism/machinery';
import { type KnownDifference, managedFieldsOf, valueAt } from './known-difference.ts';
import { becameAtomic } from './rule-forms.ts';

/** managedFields. */
export const ownershipDifferences: readonly KnownDifference[] = [
  {
    name: 'owners of what a subresource writes',
    reason: 'since 1.22 entries name the subresource, and leave out what it or the main resource resets (ResetFields)',
    object({ real, own }) {
      const entries = valueAt(own, 'metadata.managedFields');
      if (!Array.isArray(entries) || !entries.some((entry) => valueAt(entry, 'subresource') !== undefined))
        return false;
      for (const { metadata } of [real, own]) if (isJsonObject(metadata)) delete metadata['managedFields'];
      return true;
    },
  },
  {
    name: 'order of managedFields',
    reason: 'of no version: entries are ordered by the second of their time first, and that of a write is chance',
    object({ real, own }) {
      for (const object of [real, own]) sortEntries(object);
      return true;
    },
  },
  {
    name: 'owners of owner references',
    reason: 'a reference is owned as a whole since 1.22; which object it is of is in the key, by a uid of the server',
    object({ real, own }) {
      return managedFieldsOf(real)
        .concat(managedFieldsOf(own))
        .map((fields) => {
          const references = valueAt(fields, 'f:metadata.f:ownerReferences');
          if (!isJsonObject(references)) return false;
          const keys = Object.keys(references).filter((key) => key.startsWith('k:'));
          for (const key of keys) delete references[key];
          for (const index of keys.keys()) references[`k:${index}`] = {};
          return keys.length > 0;
        })
        .includes(true);
    },
  },
  {
    name: 'owners of a CertificateSigningRequest',
    reason: 'a create owns nothing of its spec and status, which are reset, since 1.22 (ResetFields)',
    object({ real, own }, kind) {
      if (kind !== 'CertificateSigningRequest') return false;
      const owners = valueAt(real, 'metadata.managedFields');
      for (const { metadata } of [real, own]) if (isJsonObject(metadata)) delete metadata['managedFields'];
      return owners !== undefined;
    },
  },
  {
    name: 'times of owners by applies that changed nothing else',
    reason: 'an apply that only makes a manager an owner writes no time since 1.22',
    object({ real, own }) {
      const [theirs, ours] = [real, own].map((object) => valueAt(object, 'metadata.managedFields'));
      if (!Array.isArray(theirs) || !Array.isArray(ours)) return false;
      return theirs
        .map((entry: unknown, index) => {
          const mine: unknown = ours[index];
          if (!isJsonObject(entry) || !isJsonObject(mine) || entry['operation'] !== 'Apply') return false;
          return 'time' in entry && !('time' in mine) && delete entry['time'];
        })
        .includes(true);
    },
  },
  {
    name: 'owners in partial metadata',
    reason: 'they name fields that only the whole object shows: what was added since 1.20 cannot be told from it',
    object({ real, own }, kind) {
      if (kind !== 'PartialObjectMetadata') return false;
      for (const { metadata } of [real, own]) if (isJsonObject(metadata)) delete metadata['managedFields'];
      return true;
    },
  },
  {
    name: 'owners of the status of a new object',
    reason: 'a create resets the status, and so owns nothing of it, since 1.22 (ResetFields)',
    object({ real }, kind) {
      if (!/^(PersistentVolume|Namespace$|CustomResourceDefinition$|Thing$)/.test(kind)) return false;
      return managedFieldsOf(real)
        .map((fields) => 'f:status' in fields && delete fields['f:status'])
        .includes(true);
    },
  },
  {
    name: 'owners of creationTimestamp in templates',
    reason: 'nested metadata has no creationTimestamp: null any more (omitzero, 1.34)',
    object: ({ real }) =>
      managedFieldsOf(real)
        .map((fields) => removeFrom(fields, 'f:creationTimestamp'))
        .includes(true),
  },
  {
    name: 'owners of system fields',
    reason:
      'deletionTimestamp and deletionGracePeriodSeconds of a request are wiped before owners are told, since 1.22',
    object: ({ real }) =>
      managedFieldsOf(real)
        .map((fields) =>
          ['f:deletionTimestamp', 'f:deletionGracePeriodSeconds']
            .map((name) => removeFrom(fields, name))
            .includes(true),
        )
        .includes(true),
  },
  becameAtomic(
    [
      'selector',
      'labelSelector',
      'podSelector',
      'namespaceSelector',
      'nodeSelector',
      'secretKeyRef',
      'configMapKeyRef',
      'fieldRef',
      'resourceFieldRef',
      'scaleTargetRef',
      'roleRef',
      'claimRef',
      'involvedObject',
      'requiredDuringSchedulingIgnoredDuringExecution',
    ],
    'marked x-kubernetes-map-type: atomic in 1.21 and later',
  ),
  becameAtomic(['scopeSelector'], 'ScopeSelector of a ResourceQuota: x-kubernetes-map-type: atomic since 1.21'),
  becameAtomic(['port'], 'ServiceBackendPort of an Ingress: x-kubernetes-map-type: atomic since 1.29'),
  {
    name: 'owners of references in lists',
    reason:
      'LocalObjectReference and ObjectReference are x-kubernetes-map-type: atomic since 1.21, so a list item is owned as a whole',
    object: ({ real }) => managedFieldsOf(real).map(cutReferences).includes(true),
  },
  {
    name: 'owners of nothing',
    reason: 'an entry without fields is not written since 1.22',
    object: ({ real, own }) => [real, own].map(dropEmptyEntries).includes(true),
  },
  {
    name: 'owners within fields of any type',
    reason: 'what has no type in a schema is granular since 1.21, and was atomic before',
    object({ real, own, request }) {
      if (!request.includes('/crd-schema-')) return false;
      return managedFieldsOf(real)
        .map((fields, index) => unfold(fields, managedFieldsOf(own)[index]))
        .includes(true);
    },
  },
];

function dropEmptyEntries(object: Record<string, unknown>): boolean {
  const { metadata } = object;
  const entries = valueAt(object, 'metadata.managedFields');
  if (!isJsonObject(metadata) || !Array.isArray(entries)) return false;
  const kept = entries.filter((entry) => Object.keys((valueAt(entry, 'fieldsV1') ?? {}) as object).length > 0);
  if (kept.length === 0) delete metadata['managedFields'];
  else metadata['managedFields'] = kept;
  return kept.length < entries.length;
}

function sortEntries(object: Record<string, unknown>): void {
  const entries = valueAt(object, 'metadata.managedFields');
  if (!Array.isArray(entries)) return;
  const keyOf = (entry: unknown): string =>
    ['operation', 'manager', 'apiVersion'].map((key) => String(valueAt(entry, key))).join(' ');
  entries.sort((a, b) => keyOf(a).localeCompare(keyOf(b)));
}

const REFERENCE_LISTS = new Set(['f:imagePullSecrets', 'f:secrets']);

function cutReferences(fields: Record<string, unknown>): boolean {
  let changed = false;
  for (const [key, value] of Object.entries(fields)) {
    if (!isJsonObject(value)) continue;
    if (!REFERENCE_LISTS.has(key)) {
      changed = cutReferences(value) || changed;
      continue;
    }
    for (const [item, owned] of Object.entries(value)) {
      if (!item.startsWith('k:') || !isJsonObject(owned) || Object.keys(owned).length === 0) continue;
      value[item] = {};
      changed = true;
    }
  }
  return changed;
}

/** Takes the key out wherever it is, and what is empty then. */
function removeFrom(fields: Record<string, unknown>, name: string): boolean {
  let changed = false;
  for (const [key, value] of Object.entries(fields)) {
    if (key === name) {
      delete fields[key];
      changed = true;
    } else if (isJsonObject(value) && removeFrom(value, name)) {
      changed = true;
      if (Object.keys(value).length === 0) delete fields[key];
    }
  }
  return changed;
}

/** Takes over what ours knows of fields that the real server owns as a whole. */
function unfold(fields: Record<string, unknown>, ours: unknown): boolean {
  if (!isJsonObject(ours)) return false;
  let changed = false;
  for (const [key, value] of Object.entries(fields)) {
    const mine = ours[key];
    if (!isJsonObject(value) || !isJsonObject(mine)) continue;
    if (Object.keys(value).length === 0 && '.' in mine) {
      fields[key] = mine;
      changed = true;
    } else changed = unfold(value, mine) || changed;
  }
  return changed;
}
