import {
  deepEqual,
  type PersistentVolumeClaimSpec,
  type PodTemplateSpec,
  validateAnnotations,
  validateDns1123Label,
} from '@asterism/machinery';
import {
  checkAtMost,
  checkCollisions,
  checkCounts,
  checkOwnSelector,
  checkServingTemplate,
  checkShare,
  checkAtMostAll,
  faultsOf,
  selectorOf,
  SPEC,
  specOf,
  STATUS,
  statusOf,
  workloadWarnings,
} from '../workload/validate-workload.ts';
import {
  type Fields,
  fieldsAt,
  listAt,
  numberAt,
  optionalFields,
  setDefaults,
  setDefaultText,
  textAt,
} from '../fields/draft-fields.ts';
import type { Faults } from '../validation/faults.ts';
import { checkLabelSelector, checkLabels } from '../validation/validate-selector.ts';
import { defaultPersistentVolumeClaim } from '../persistent-volume-claim/kind.ts';
import { checkPodTemplate } from '../pod-spec/validate-pod-spec.ts';
import { checkDnsLabel } from '../validation/validate-text.ts';
import { checkClaimSpec } from '../pod-spec/validate-volume-claim.ts';
import { defaultPodTemplate } from '../pod-spec/pod-spec-defaults.ts';
import { isFractional } from '../pod-spec/validate-resources.ts';
import { fractional } from '../pod-spec/warn-volumes.ts';
import type { Kind } from '../../contract/kind.ts';

/** The parts of its spec that a StatefulSet may change. */
const MUTABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

export const statefulSetKind: Kind = {
  groupResource: 'statefulsets.apps',
  strategy: {
    generation: 'spec',
    bookmark: { spec: { replicas: 0, serviceName: '' } },
    validateName: validateDns1123Label,

    applyDefaults(draft) {
      const spec = fieldsAt(draft, 'spec');
      defaultPodTemplate(fieldsAt(spec, 'template'));
      setDefaultText(spec, 'podManagementPolicy', 'OrderedReady');
      const updateStrategy = fieldsAt(spec, 'updateStrategy');
      setDefaultText(updateStrategy, 'type', 'RollingUpdate');
      if (updateStrategy.type === 'RollingUpdate')
        setDefaults(fieldsAt(updateStrategy, 'rollingUpdate'), { partition: 0 });
      const retention = fieldsAt(spec, 'persistentVolumeClaimRetentionPolicy');
      setDefaultText(retention, 'whenDeleted', 'Retain');
      setDefaultText(retention, 'whenScaled', 'Retain');
      setDefaults(spec, { replicas: 1, revisionHistoryLimit: 10 });
      for (const claim of listAt(spec, 'volumeClaimTemplates')) {
        setDefaults(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' });
        defaultPersistentVolumeClaim(claim);
      }
    },

    validateCreate: (object) => faultsOf((faults) => checkStatefulSetSpec(specOf(object), true, faults)),

    validateUpdate: (object, old) =>
      faultsOf((faults) => {
        checkStatefulSetSpec(specOf(object), false, faults);
        const fixed = (spec: object): object =>
          Object.fromEntries(Object.entries(spec).filter(([key]) => !MUTABLE.includes(key)));
        if (deepEqual(fixed(specOf(object)), fixed(specOf(old)))) return;
        const detail =
          "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
        faults.forbidden(SPEC, detail);
      }),

    validateStatus: (object, old) =>
      faultsOf((faults) => {
        const status = statusOf(object);
        checkCounts(status, ['replicas', ...PARTS, 'observedGeneration', 'collisionCount'], STATUS, faults);
        checkAtMost(status, PARTS, { most: 'replicas', as: 'status.replicas' }, faults);
        checkAtMost(status, ['availableReplicas'], { most: 'readyReplicas', as: 'status.readyReplicas' }, faults);
        checkCollisions(status, statusOf(old), faults);
      }),

    warnings(object, old, subresource) {
      if (subresource !== undefined) return [];
      const warnings = workloadWarnings(object, old);
      if (old && object.metadata?.generation === old.metadata?.generation) return warnings;
      for (const [index, claim] of listAt(specOf(object), 'volumeClaimTemplates').entries()) {
        const { resources } = (optionalFields(claim, 'spec') ?? {}) as PersistentVolumeClaimSpec;
        const size = resources?.requests?.storage;
        if (size === undefined || !isFractional(size)) continue;
        const place = SPEC.child('volumeClaimTemplates')
          .index(index)
          .child('spec')
          .child('resources')
          .child('requests');
        warnings.push(fractional(place.key('storage'), size));
      }
      if ((numberAt(specOf(object), 'revisionHistoryLimit') ?? 0) < 0) {
        warnings.push(
          'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended',
        );
      }
      return warnings;
    },
  },
};

const PARTS = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'];

function checkStatefulSetSpec(spec: Fields, isNew: boolean, faults: Faults): void {
  checkPolicies(spec, faults);
  if (isNew) {
    for (const [index, claim] of listAt(spec, 'volumeClaimTemplates').entries()) {
      const at = SPEC.child('volumeClaimTemplates').index(index).child('spec');
      checkClaimSpec(optionalFields(claim, 'spec') as PersistentVolumeClaimSpec | undefined, at, faults);
    }
  }
  checkCounts(spec, ['replicas', 'minReadySeconds'], SPEC, faults);
  const ordinals = optionalFields(spec, 'ordinals');
  if (ordinals) checkCounts(ordinals, ['start'], SPEC.child('ordinals'), faults);
  const serviceName = textAt(spec, 'serviceName');
  if (isNew && serviceName !== '') checkDnsLabel(serviceName, SPEC.child('serviceName'), faults);
  checkOwnSelector(selectorOf(spec), 'statefulset', (selector, at) => checkLabelSelector(selector, at, faults), faults);
  const checkTemplate = (template: PodTemplateSpec): void => checkMemberTemplate(spec, template, faults);
  checkServingTemplate(spec, { kind: 'StatefulSet', checkTemplate }, faults);
}

function checkPolicies(spec: Fields, faults: Faults): void {
  const management = textAt(spec, 'podManagementPolicy');
  if (management === '') faults.required(SPEC.child('podManagementPolicy'));
  else if (management !== 'OrderedReady' && management !== 'Parallel') {
    const detail = "must be 'OrderedReady' or 'Parallel'";
    faults.invalid(SPEC.child('podManagementPolicy'), management, detail);
  }
  checkRollout(optionalFields(spec, 'updateStrategy') ?? {}, faults);
  const retention = optionalFields(spec, 'persistentVolumeClaimRetentionPolicy');
  for (const key of ['whenDeleted', 'whenScaled']) {
    const policy = textAt(retention, key);
    if (!retention || policy === 'Retain' || policy === 'Delete') continue;
    const at = SPEC.child('persistentVolumeClaimRetentionPolicy').child(key);
    faults.notSupported(at, policy, ['Retain', 'Delete']);
  }
}

function checkRollout(strategy: Fields, faults: Faults): void {
  const at = SPEC.child('updateStrategy');
  const type = textAt(strategy, 'type');
  const rolling = optionalFields(strategy, 'rollingUpdate');
  if (type === '') faults.required(at);
  else if (type === 'OnDelete') {
    if (rolling) {
      const detail = "only allowed for updateStrategy 'RollingUpdate'";
      faults.invalidStruct(at.child('rollingUpdate'), internalRolling(rolling), detail);
    }
  } else if (type === 'RollingUpdate') {
    if (rolling) checkRolling(rolling, faults);
  } else {
    const shown = { Type: type, RollingUpdate: rolling ? internalRolling(rolling) : null };
    faults.invalidStruct(at, shown, "must be 'RollingUpdate' or 'OnDelete'");
  }
}

function internalRolling({ partition = 0, maxUnavailable = null }: Fields): object {
  return { Partition: partition, MaxUnavailable: maxUnavailable };
}

function checkRolling(rolling: Fields, faults: Faults): void {
  const at = SPEC.child('updateStrategy').child('rollingUpdate');
  checkCounts(rolling, ['partition'], at, faults);
  const { maxUnavailable } = rolling;
  if (maxUnavailable === undefined) return;
  const place = at.child('maxUnavailable');
  checkShare(maxUnavailable, place, faults);
  if (maxUnavailable === 0 || maxUnavailable === '0%') faults.invalid(place, maxUnavailable, 'cannot be 0');
  checkAtMostAll(maxUnavailable, place, faults);
}

/** What the pods will be: their names are their own, and their claims are volumes. */
function checkMemberTemplate(spec: Fields, template: PodTemplateSpec, faults: Faults): void {
  const at = SPEC.child('template');
  const { hostname: _hostname, subdomain: _subdomain, volumes = [], ...rest } = template.spec ?? { containers: [] };
  const names = new Set(volumes.map(({ name }) => name));
  const claims = listAt(spec, 'volumeClaimTemplates')
    .map((claim) => textAt(optionalFields(claim, 'metadata'), 'name'))
    .filter((name) => name !== '' && !names.has(name))
    .map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const all = [...volumes, ...claims];
  const pods = { ...template, spec: { ...rest, ...(all.length > 0 ? { volumes: all } : {}) } };
  checkPodTemplate(pods, at, faults);
  const { labels, annotations } = template.metadata ?? {};
  checkLabels(labels, at.child('labels'), faults);
  if (annotations) faults.addAll(validateAnnotations(annotations, at.child('annotations').toString()));
}
