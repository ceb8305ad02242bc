import { deepEqual, type PersistentVolumeClaimSpec, validateDns1123Label } from '@asterism/machinery';
import {
  validateAtMost,
  validateCollisions,
  validateCounts,
  SPEC,
  specOf,
  STATUS,
  statusOf,
  workloadWarnings,
} from '../workload/validate-workload.ts';
import { fieldsAt, listAt, numberAt, optionalFields, setDefaults, setDefaultText } from '../fields/draft-fields.ts';
import { defaultPersistentVolumeClaim } from '../persistent-volume-claim/kind.ts';
import { defaultPodTemplate } from '../pod-spec/pod-spec-defaults.ts';
import { isFractional } from '../pod-spec/validate-resources.ts';
import { fractional } from '../pod-spec/warn-volumes.ts';
import type { Kind } from '../../contract/kind.ts';
import { validateStatefulSetSpec } from './validation.ts';
import { collectFaults } from '../validation/faults.ts';

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

    validateCreate: (object) => collectFaults((faults) => validateStatefulSetSpec(specOf(object), true, faults)),

    validateUpdate: (object, old) =>
      collectFaults((faults) => {
        validateStatefulSetSpec(specOf(object), false, faults);
        const fixed = (spec: object): object =>
          Object.fromEntries(Object.entries(spec).filter(([key]) => !MUTABLE.includes(key)));
        if (deepEqual(fixed(specOf(object)), fixed(specOf(old)))) return;
        const detail =
          "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
        faults.forbidden(SPEC, detail);
      }),

    validateStatus: (object, old) =>
      collectFaults((faults) => {
        const status = statusOf(object);
        validateCounts(status, ['replicas', ...PARTS, 'observedGeneration', 'collisionCount'], STATUS, faults);
        validateAtMost(status, PARTS, { most: 'replicas', as: 'status.replicas' }, faults);
        validateAtMost(status, ['availableReplicas'], { most: 'readyReplicas', as: 'status.readyReplicas' }, faults);
        validateCollisions(status, statusOf(old), faults);
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
