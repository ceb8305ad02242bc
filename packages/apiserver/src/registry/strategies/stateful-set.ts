import { deepEqual, validateDns1123Label } from '@asterism/machinery';
import { forbiddenField, type Strategy } from '../strategy.ts';
import { fieldsAt, listAt, optionalFields, setDefaults, setDefaultText } from './draft-fields.ts';
import { defaultPersistentVolumeClaim } from './persistent-volume-claim.ts';
import { defaultPodTemplate } from './pod-spec-defaults.ts';
import { validateNotNegative, validateSelectedTemplate } from './validate-pod-template.ts';

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

export const statefulSetStrategy: Strategy = {
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

  validate(object) {
    const spec = optionalFields(object, 'spec');
    return [
      ...validateNotNegative(spec, ['replicas', 'minReadySeconds']),
      ...validateSelectedTemplate(spec, { kind: 'statefulset', restartPolicies: ['Always'] }),
    ];
  },

  validateUpdate(object, old) {
    const fixed = (spec: object | undefined): object =>
      Object.fromEntries(Object.entries(spec ?? {}).filter(([key]) => !MUTABLE.includes(key)));
    if (deepEqual(fixed(optionalFields(object, 'spec')), fixed(optionalFields(old, 'spec')))) return [];
    const detail =
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
    return [forbiddenField('spec', detail)];
  },
};
