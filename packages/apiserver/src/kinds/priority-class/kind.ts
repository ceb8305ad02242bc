import { numberAt, setDefaultText, textAt } from '../fields/draft-fields.ts';
import { FieldPath } from '../validation/field-path.ts';
import type { Kind } from '../../contract/kind.ts';
import { collectFaults } from '../validation/faults.ts';

/** The two that Kubernetes makes for itself, with their values. */
const SYSTEM_CLASSES: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};
const HIGHEST = 1_000_000_000;
const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never'];

export const priorityClassKind: Kind = {
  groupResource: 'priorityclasses.scheduling.k8s.io',
  strategy: {
    generation: 'initial',
    applyDefaults: (draft) => setDefaultText(draft, 'preemptionPolicy', 'PreemptLowerPriority'),

    validateCreate: (object) =>
      collectFaults((faults) => {
        const name = object.metadata?.name ?? '';
        const value = numberAt(object, 'value') ?? 0;
        if (!name.startsWith('system-')) {
          const detail = `maximum allowed value of a user defined priority is ${HIGHEST}`;
          if (value > HIGHEST) faults.forbidden(FieldPath.of('value'), detail);
        } else {
          const why = systemFault(name, value, object.globalDefault === true);
          const detail = `priority class names with 'system-' prefix are reserved for system use only. error: ${why}`;
          if (why !== '') faults.forbidden(FieldPath.of('metadata').child('name'), detail);
        }
        const policy = textAt(object, 'preemptionPolicy');
        if (policy !== '' && !PREEMPTION_POLICIES.includes(policy)) {
          faults.notSupported(FieldPath.of('preemptionPolicy'), policy, PREEMPTION_POLICIES);
        }
      }),

    refuseDeletion: (name) =>
      Object.hasOwn(SYSTEM_CLASSES, name) ? 'this is a system priority class and cannot be deleted' : undefined,

    validateUpdate: (object, old) =>
      collectFaults((faults) => {
        const value = numberAt(object, 'value') ?? 0;
        if (value !== (numberAt(old, 'value') ?? 0)) {
          faults.forbidden(FieldPath.of('value'), 'may not be changed in an update.');
        }
        const policy = textAt(object, 'preemptionPolicy');
        if (policy !== textAt(old, 'preemptionPolicy')) {
          faults.invalid(FieldPath.of('preemptionPolicy'), policy, 'field is immutable');
        }
      }),
  },
};

function systemFault(name: string, value: number, isDefault: boolean): string {
  const known = SYSTEM_CLASSES[name];
  if (known === undefined) return `${name} is not a known system priority class`;
  if (known !== value) return `value of ${name} PriorityClass must be ${known}`;
  return isDefault ? `globalDefault of ${name} PriorityClass must be false` : '';
}
