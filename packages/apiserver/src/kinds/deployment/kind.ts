import { deepEqual } from '@asterism/machinery';
import {
  checkAtMost,
  checkAtMostAll,
  checkCollisions,
  checkCounts,
  checkOwnSelector,
  checkSameSelector,
  checkServingTemplate,
  checkShare,
  faultsOf,
  selectorOf,
  shareNumber,
  SPEC,
  specOf,
  STATUS,
  statusOf,
  workloadWarnings,
} from '../workload/validate-workload.ts';
import {
  type Fields,
  fieldsAt,
  numberAt,
  optionalFields,
  setDefaults,
  setDefaultText,
  textAt,
} from '../fields/draft-fields.ts';
import type { Faults } from '../validation/faults.ts';
import { checkLabelSelector } from '../validation/validate-selector.ts';
import { defaultPodTemplate } from '../pod-spec/pod-spec-defaults.ts';
import type { Kind } from '../../contract/kind.ts';

export const deploymentKind: Kind = {
  groupResource: 'deployments.apps',
  strategy: {
    generation: 'spec',
    bookmark: { spec: { replicas: 0 } },
    statusKeepsLabels: true,
    resetFields: { status: [['spec'], ['metadata', 'labels']] },

    applyDefaults(draft) {
      const spec = fieldsAt(draft, 'spec');
      defaultPodTemplate(fieldsAt(spec, 'template'));
      setDefaults(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
      const strategy = fieldsAt(spec, 'strategy');
      setDefaultText(strategy, 'type', 'RollingUpdate');
      if (strategy.type !== 'RollingUpdate') return;
      setDefaults(fieldsAt(strategy, 'rollingUpdate'), { maxUnavailable: '25%', maxSurge: '25%' });
    },

    // Its controller copies the annotations to the ReplicaSet, so they count as what a user wants.
    prepareForUpdate({ metadata }, old) {
      const { generation, annotations = {} } = old.metadata ?? {};
      if (generation === undefined || deepEqual(metadata.annotations ?? {}, annotations)) return;
      metadata.generation = generation + 1;
    },

    validateCreate: (object) => faultsOf((faults) => checkDeploymentSpec(specOf(object), faults)),

    validateUpdate: (object, old) =>
      faultsOf((faults) => {
        const spec = specOf(object);
        checkDeploymentSpec(spec, faults);
        checkSameSelector(spec, specOf(old), faults);
      }),

    validateStatus: (object, old) =>
      faultsOf((faults) => {
        const status = statusOf(object);
        checkCounts(status, ['observedGeneration', ...COUNTS], STATUS, faults);
        const whole = { most: 'replicas', as: 'status.replicas' };
        checkAtMost(status, ['updatedReplicas', 'readyReplicas', 'availableReplicas'], whole, faults);
        checkAtMost(status, ['availableReplicas'], { most: 'readyReplicas', as: 'readyReplicas' }, faults);
        checkCollisions(status, statusOf(old), faults);
      }),

    warnings: workloadWarnings,
  },
};

const COUNTS = [
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'terminatingReplicas',
  'collisionCount',
];

function checkDeploymentSpec(spec: Fields, faults: Faults): void {
  checkCounts(spec, ['replicas'], SPEC, faults);
  checkOwnSelector(selectorOf(spec), 'deployment', (selector, at) => checkLabelSelector(selector, at, faults), faults);
  checkServingTemplate(spec, { kind: 'ReplicaSet' }, faults);
  checkRollout(optionalFields(spec, 'strategy') ?? {}, faults);
  checkCounts(spec, ['minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'], SPEC, faults);
  const deadline = numberAt(spec, 'progressDeadlineSeconds');
  if (deadline !== undefined && deadline <= (numberAt(spec, 'minReadySeconds') ?? 0)) {
    faults.invalid(SPEC.child('progressDeadlineSeconds'), deadline, 'must be greater than minReadySeconds');
  }
}

function checkRollout(strategy: Fields, faults: Faults): void {
  const at = SPEC.child('strategy');
  const rolling = optionalFields(strategy, 'rollingUpdate');
  const type = textAt(strategy, 'type');
  if (type === 'Recreate') {
    const detail = "may not be specified when strategy `type` is 'Recreate'";
    if (rolling) faults.forbidden(at.child('rollingUpdate'), detail);
  } else if (type !== 'RollingUpdate') {
    const { maxUnavailable = 0, maxSurge = 0 } = rolling ?? {};
    const shown = {
      Type: type,
      RollingUpdate: rolling ? { MaxUnavailable: maxUnavailable, MaxSurge: maxSurge } : null,
    };
    faults.notSupported(at, shown, ['Recreate', 'RollingUpdate']);
  } else if (rolling) {
    const { maxUnavailable, maxSurge } = rolling;
    const place = at.child('rollingUpdate');
    checkShare(maxUnavailable, place.child('maxUnavailable'), faults);
    checkShare(maxSurge, place.child('maxSurge'), faults);
    if (shareNumber(maxUnavailable) === 0 && shareNumber(maxSurge) === 0) {
      faults.invalid(place.child('maxUnavailable'), maxUnavailable, 'may not be 0 when `maxSurge` is 0');
    }
    checkAtMostAll(maxUnavailable, place.child('maxUnavailable'), faults);
  }
}
