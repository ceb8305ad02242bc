import { type PersistentVolumeClaimSpec, type PodTemplateSpec, validateAnnotations } from '@asterism/machinery';
import {
  validateCounts,
  validateOwnSelector,
  validateServingTemplate,
  validateShare,
  validateAtMostAll,
  selectorOf,
  SPEC,
} from '../workload/validate-workload.ts';
import { type Fields, listAt, optionalFields, textAt } from '../fields/draft-fields.ts';
import type { Faults } from '../validation/faults.ts';
import { validateLabelSelector, validateLabelsAt } from '../validation/validate-label-selector.ts';
import { validatePodTemplate } from '../pod-spec/validate-pod-spec.ts';
import { validateDnsLabel } from '../validation/validate-text.ts';
import { validateClaimSpec } from '../pod-spec/validate-volume-claim.ts';

export function validateStatefulSetSpec(spec: Fields, isNew: boolean, faults: Faults): void {
  validatePolicies(spec, faults);
  if (isNew) {
    for (const [index, claim] of listAt(spec, 'volumeClaimTemplates').entries()) {
      const at = SPEC.child('volumeClaimTemplates').index(index).child('spec');
      validateClaimSpec(optionalFields(claim, 'spec') as PersistentVolumeClaimSpec | undefined, at, faults);
    }
  }
  validateCounts(spec, ['replicas', 'minReadySeconds'], SPEC, faults);
  const ordinals = optionalFields(spec, 'ordinals');
  if (ordinals) validateCounts(ordinals, ['start'], SPEC.child('ordinals'), faults);
  const serviceName = textAt(spec, 'serviceName');
  if (isNew && serviceName !== '') validateDnsLabel(serviceName, SPEC.child('serviceName'), faults);
  validateOwnSelector(
    selectorOf(spec),
    'statefulset',
    (selector, at) => validateLabelSelector(selector, at, faults),
    faults,
  );
  const validateTemplate = (template: PodTemplateSpec): void => validateMemberTemplate(spec, template, faults);
  validateServingTemplate(spec, { kind: 'StatefulSet', validateTemplate }, faults);
}

function validatePolicies(spec: Fields, faults: Faults): void {
  const management = textAt(spec, 'podManagementPolicy');
  if (management === '') faults.required(SPEC.child('podManagementPolicy'));
  else if (management !== 'OrderedReady' && management !== 'Parallel') {
    const detail = "must be 'OrderedReady' or 'Parallel'";
    faults.invalid(SPEC.child('podManagementPolicy'), management, detail);
  }
  validateRollout(optionalFields(spec, 'updateStrategy') ?? {}, faults);
  const retention = optionalFields(spec, 'persistentVolumeClaimRetentionPolicy');
  for (const key of ['whenDeleted', 'whenScaled']) {
    const policy = textAt(retention, key);
    if (!retention || policy === 'Retain' || policy === 'Delete') continue;
    const at = SPEC.child('persistentVolumeClaimRetentionPolicy').child(key);
    faults.notSupported(at, policy, ['Retain', 'Delete']);
  }
}

function validateRollout(strategy: Fields, faults: Faults): void {
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
    if (rolling) validateRolling(rolling, faults);
  } else {
    const shown = { Type: type, RollingUpdate: rolling ? internalRolling(rolling) : null };
    faults.invalidStruct(at, shown, "must be 'RollingUpdate' or 'OnDelete'");
  }
}

function internalRolling({ partition = 0, maxUnavailable = null }: Fields): object {
  return { Partition: partition, MaxUnavailable: maxUnavailable };
}

function validateRolling(rolling: Fields, faults: Faults): void {
  const at = SPEC.child('updateStrategy').child('rollingUpdate');
  validateCounts(rolling, ['partition'], at, faults);
  const { maxUnavailable } = rolling;
  if (maxUnavailable === undefined) return;
  const place = at.child('maxUnavailable');
  validateShare(maxUnavailable, place, faults);
  if (maxUnavailable === 0 || maxUnavailable === '0%') faults.invalid(place, maxUnavailable, 'cannot be 0');
  validateAtMostAll(maxUnavailable, place, faults);
}

/** What the pods will be: their names are their own, and their claims are volumes. */
function validateMemberTemplate(spec: Fields, template: PodTemplateSpec, faults: Faults): void {
  const at = SPEC.child('template');
  const { hostname: _hostname, subdomain: _subdomain, volumes = [], ...rest } = template.spec ?? { containers: [] };
  const names = new Set(volumes.map(({ name }) => name));
  const claims = listAt(spec, 'volumeClaimTemplates')
    .map((claim) => textAt(optionalFields(claim, 'metadata'), 'name'))
    .filter((name) => name !== '' && !names.has(name))
    .map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const all = [...volumes, ...claims];
  const pods = { ...template, spec: { ...rest, ...(all.length > 0 ? { volumes: all } : {}) } };
  validatePodTemplate(pods, at, faults);
  const { labels, annotations } = template.metadata ?? {};
  validateLabelsAt(labels, at.child('labels'), faults);
  if (annotations) faults.addAll(validateAnnotations(annotations, at.child('annotations').toString()));
}
