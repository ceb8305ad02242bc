import { isJsonObject } from '@asterism/machinery';
import { type KnownDifference, managedFieldsOf, valueAt } from './known-difference.ts';
import { fieldAdded } from './rule-forms.ts';

/** Fields of objects. */
export const objectDifferences: readonly KnownDifference[] = [
  fieldAdded(['Service'], ['spec.internalTrafficPolicy', 'Cluster'], 'field of 1.21'),
  fieldAdded(['Service'], ['spec.allocateLoadBalancerNodePorts', true], 'field of 1.20 behind a gate, on since 1.22'),
  fieldAdded(['Service'], ['spec.ipFamilies', ['IPv4']], 'dual-stack, on since 1.21'),
  fieldAdded(['Service'], ['spec.ipFamilyPolicy', 'SingleStack'], 'dual-stack, on since 1.21'),
  fieldAdded(['Service'], ['spec.externalTrafficPolicy', 'Cluster'], 'defaulted for external IPs too since 1.26'),
  fieldAdded(['Job'], ['spec.completionMode', 'NonIndexed'], 'field of 1.21'),
  fieldAdded(['Job'], ['spec.manualSelector', false], 'defaulted since 1.33'),
  fieldAdded(['DaemonSet'], ['spec.updateStrategy.rollingUpdate.maxSurge', 0], 'field of 1.21'),
  fieldAdded(['Job'], ['spec.suspend', false], 'field of 1.21'),
  fieldAdded(['Job'], ['spec.podReplacementPolicy', 'TerminatingOrFailed'], 'field of 1.28'),
  fieldAdded(
    ['StatefulSet'],
    ['spec.persistentVolumeClaimRetentionPolicy', { whenDeleted: 'Retain', whenScaled: 'Retain' }],
    'field of 1.23, on since 1.27',
  ),
  fieldAdded(['StatefulSet'], ['status.availableReplicas', 0], 'field of 1.22, always shown'),
  fieldAdded(['CSIDriver'], ['spec.requiresRepublish', false], 'field of 1.20 behind a gate, on since 1.21'),
  fieldAdded(['CSIDriver'], ['spec.seLinuxMount', false], 'field of 1.25'),
  fieldAdded(['CSIDriver'], ['spec.storageCapacity', false], 'behind a gate in 1.20'),
  fieldAdded(['IngressClass'], ['spec.parameters.scope', 'Cluster'], 'field of 1.21'),
  {
    name: 'Namespace: label kubernetes.io/metadata.name',
    reason: 'of every namespace since 1.21',
    object({ real, own }, kind) {
      const labels = valueAt(own, 'metadata.labels');
      const { metadata } = real;
      if (
        (kind !== 'Namespace' && kind !== 'PartialObjectMetadata') ||
        !isJsonObject(labels) ||
        !isJsonObject(metadata)
      )
        return false;
      if (labels[NAME_LABEL] === undefined || labels[NAME_LABEL] !== metadata['name']) return false;
      metadata['labels'] = { ...(metadata['labels'] as object | undefined), [NAME_LABEL]: metadata['name'] };
      for (const object of [real, own]) for (const fields of managedFieldsOf(object)) forgetLabels(fields);
      return true;
    },
  },
  generationSince(['Pod', 'PodTemplate', 'PartialObjectMetadata'], 'pods have a generation since 1.33'),
  generationSince(['Job', 'CronJob'], 'told of jobs since 1.21'),
  {
    name: 'TokenRequest: metadata',
    reason: 'uid, time and owners of the account are told since 1.22, and another name than its own is not',
    object({ real, own }, kind) {
      const [theirs, ours] = [real['metadata'], own['metadata']];
      if (kind !== 'TokenRequest' || !isJsonObject(theirs) || !isJsonObject(ours)) return false;
      if (typeof ours['name'] !== 'string' || ours['creationTimestamp'] === undefined) return false;
      delete ours['uid'];
      real['metadata'] = structuredClone(ours);
      return true;
    },
  },
  {
    name: 'SelfSubjectRulesReview: rules of the default roles',
    reason: 'everybody may ask who he is since 1.28; rules of several roles come in no order',
    object({ real, own }, kind) {
      const [theirs, ours] = [real['status'], own['status']];
      if (kind !== 'SelfSubjectRulesReview' || !isJsonObject(theirs) || !isJsonObject(ours)) return false;
      for (const status of [theirs, ours]) {
        for (const key of ['resourceRules', 'nonResourceRules']) {
          const rules = Array.isArray(status[key]) ? status[key].map((rule: unknown) => JSON.stringify(rule)) : [];
          status[key] = rules.filter((rule) => !rule.includes('"selfsubjectreviews"')).sort();
        }
      }
      return true;
    },
  },
  {
    name: 'which binding allows',
    reason: 'of no version: where several do, the first in the order of a cache is told',
    object({ real, own }, kind) {
      const [theirs, ours] = [real['status'], own['status']];
      if (!kind.endsWith('AccessReview') || !isJsonObject(theirs) || !isJsonObject(ours)) return false;
      if (![theirs, ours].every(({ reason }) => String(reason).startsWith('RBAC: allowed by '))) return false;
      theirs['reason'] = ours['reason'];
      return true;
    },
  },
  {
    name: 'TokenReview: the credential',
    reason: 'the id of a token is among the extra of its user since 1.32',
    object({ real, own }, kind) {
      const [theirs, ours] = [valueAt(real, 'status.user'), valueAt(own, 'status.user')];
      if (kind !== 'TokenReview' || !isJsonObject(theirs) || !isJsonObject(ours)) return false;
      const { extra } = ours;
      if (!isJsonObject(extra) || !('authentication.kubernetes.io/credential-id' in extra)) return false;
      delete extra['authentication.kubernetes.io/credential-id'];
      if (Object.keys(extra).length === 0) delete ours['extra'];
      return true;
    },
  },
  {
    name: 'PodDisruptionBudget: status.conditions',
    reason: 'an eviction writes whether another is allowed since 1.22',
    object({ real, own }, kind) {
      const [theirs, ours] = [real['status'], own['status']];
      if (kind !== 'PodDisruptionBudget' || !isJsonObject(theirs) || !isJsonObject(ours)) return false;
      if ('conditions' in theirs || !Array.isArray(ours['conditions'])) return false;
      return delete ours['conditions'];
    },
  },
  {
    name: 'PersistentVolume: status.lastPhaseTransitionTime',
    reason: 'field of 1.28',
    object({ own }, kind) {
      const { status } = own;
      if (kind !== 'PersistentVolume' || !isJsonObject(status) || !('lastPhaseTransitionTime' in status)) return false;
      return delete status['lastPhaseTransitionTime'];
    },
  },
  {
    name: 'Job: labels with the prefix batch.kubernetes.io/',
    reason: 'since 1.27 the generated labels and selector have this prefix, the old labels stay',
    object({ real, own, request }, kind) {
      if (kind !== 'Job' && !(kind === 'PartialObjectMetadata' && request.includes('/jobs'))) return false;
      for (const fields of managedFieldsOf(own)) disownJobLabels(valueAt(fields, 'f:metadata.f:labels'));
      return ['metadata.labels', 'spec.template.metadata.labels', 'spec.selector.matchLabels']
        .map((path) => renameJobLabels(real, own, path.split('.')))
        .includes(true);
    },
  },
  {
    name: 'creationTimestamp: null of templates',
    reason: 'nested metadata leaves out what is not set (omitzero, 1.34)',
    object: ({ real }) => removeNullTimes(real),
  },
  {
    name: 'order of a list from the cache',
    reason: 'lists of a given version came in no order before 1.33',
    object({ real, own, query }) {
      if (!query.includes('resourceVersion=')) return false;
      for (const { items } of [real, own])
        if (Array.isArray(items)) items.sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
      return Array.isArray(real['items']);
    },
  },
  {
    name: 'resourceVersion of a deleted object',
    reason: 'since 1.28 the answer to a DELETE has the version of the deletion, not the one before',
    object({ real, own, request }) {
      const [theirs, ours] = [real['metadata'], own['metadata']];
      if (!request.startsWith('DELETE') || !isJsonObject(theirs) || !isJsonObject(ours)) return false;
      if (theirs['resourceVersion'] === undefined || ours['resourceVersion'] === undefined) return false;
      delete theirs['resourceVersion'];
      delete ours['resourceVersion'];
      return true;
    },
  },
  {
    name: 'answer to the deletion of a Service',
    reason: 'the Service since 1.23, a Status before',
    answer({ real, own, request }) {
      const [theirs, ours] = [real['body'], own['body']];
      if (!/^DELETE .*\/services\//.test(request) || !isJsonObject(theirs) || !isJsonObject(ours)) return false;
      if (theirs['kind'] !== 'Status' || theirs['status'] !== 'Success' || ours['kind'] !== 'Service') return false;
      const uid = valueAt(theirs, 'details.uid');
      for (const answer of [real, own]) answer['body'] = { deleted: uid === undefined ? undefined : 'a service' };
      return true;
    },
  },
  {
    name: 'order of lists that applies merged',
    reason: 'items that managers own apart keep their places since 1.27; in 1.20 those of the last apply come first',
    object({ real, own, request, query }, kind) {
      if (!APPLIED_KINDS.has(kind) || !request.startsWith('PATCH ') || !query.includes('fieldManager=')) return false;
      const before = JSON.stringify(real);
      for (const object of [real, own]) sortKeyedLists(object);
      return JSON.stringify(real) !== before;
    },
  },
];

const NAME_LABEL = 'kubernetes.io/metadata.name';

/** The owners of labels: that of the label of 1.21 would make `f:labels` one of theirs too. */
function forgetLabels(fields: Record<string, unknown>): void {
  const metadata = fields['f:metadata'];
  if (!isJsonObject(metadata)) return;
  delete metadata['f:labels'];
  if (Object.keys(metadata).length === 0) delete fields['f:metadata'];
}

/** Who owns an old label owns the new one of the same meaning. */
function disownJobLabels(labels: unknown): void {
  if (!isJsonObject(labels)) return;
  for (const old of ['controller-uid', 'job-name'])
    if (`f:${old}` in labels) delete labels[`f:batch.kubernetes.io/${old}`];
}

/** Old labels and a selector by them become what 1.36 makes of the same job. */
function renameJobLabels(
  real: Record<string, unknown>,
  own: Record<string, unknown>,
  path: readonly string[],
): boolean {
  const [theirs, ours] = [valueAt(real, path.join('.')), valueAt(own, path.join('.'))];
  if (!isJsonObject(theirs) || !isJsonObject(ours)) return false;
  const selector = path.at(-1) === 'matchLabels';
  let changed = false;
  for (const key of ['controller-uid', 'job-name']) {
    const value = theirs[key];
    if (value === undefined || !(`batch.kubernetes.io/${key}` in ours)) continue;
    theirs[`batch.kubernetes.io/${key}`] = value;
    if (selector) delete theirs[key];
    changed = true;
  }
  return changed;
}

function removeNullTimes(value: unknown): boolean {
  if (Array.isArray(value)) return value.map(removeNullTimes).includes(true);
  if (!isJsonObject(value)) return false;
  let changed = false;
  for (const [key, item] of Object.entries(value)) {
    if (key === 'creationTimestamp' && item === null) {
      delete value[key];
      changed = true;
    } else if (removeNullTimes(item)) changed = true;
  }
  return changed;
}

/** A positive whole number; that it rises is seen with kinds that had one in 1.20. */
function generationSince(kinds: readonly string[], reason: string): KnownDifference {
  return {
    name: `${kinds.join(', ')}: metadata.generation`,
    reason,
    object({ real, own }, kind) {
      const [theirs, ours] = [real['metadata'], own['metadata']];
      if (!kinds.includes(kind) || !isJsonObject(theirs) || !isJsonObject(ours) || 'generation' in theirs) return false;
      if (!Number.isInteger(ours['generation'])) return false;
      theirs['generation'] = ours['generation'];
      return true;
    },
  };
}

const APPLIED_KINDS = new Set(['ServiceAccount', 'Service', 'Deployment', 'Thing']);
/** Lists of these names are maps by a key. */
const KEYED_LISTS = new Set([
  'secrets',
  'imagePullSecrets',
  'ports',
  'containers',
  'env',
  'volumes',
  'entries',
  'tags',
]);

/** What tells the items of such lists apart. */
function keyOf(item: unknown): string {
  if (!isJsonObject(item)) return JSON.stringify(item);
  return JSON.stringify([item['name'], item['port'], item['containerPort'], item['protocol']]);
}

function sortKeyedLists(value: unknown, name = ''): void {
  if (Array.isArray(value)) {
    for (const item of value) sortKeyedLists(item);
    if (KEYED_LISTS.has(name)) value.sort((a, b) => keyOf(a).localeCompare(keyOf(b)));
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) sortKeyedLists(item, key);
  }
}

function nameOf(object: unknown): string {
  return String(valueAt(object, 'metadata.name'));
}
