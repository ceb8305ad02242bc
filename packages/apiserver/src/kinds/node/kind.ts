import type { KubeObject } from '@asterism/machinery';
import { type Fields, fieldsAt, optionalFields, setDefaults, textAt, textsAt } from '../fields/draft-fields.ts';
import type { Kind } from '../../contract/kind.ts';
import {
  validateAnnotations,
  validateNodeUpdate,
  validatePodCidrs,
  validateResources,
  validateTaints,
} from './validation.ts';

export const nodeKind: Kind = {
  groupResource: 'nodes',
  strategy: {
    metadataChecks: 4,
    createsWithStatus: true,

    selectableFields: {
      'spec.unschedulable': (object: KubeObject) => String(optionalFields(object, 'spec')?.unschedulable === true),
    },

    applyDefaults(draft) {
      const spec = fieldsAt(draft, 'spec');
      const podCIDR = textAt(spec, 'podCIDR');
      // The older field for one address family, the newer for two: what the one says the other says first.
      if (podCIDR !== '') setDefaults(spec, { podCIDRs: [podCIDR] });
      const status = fieldsAt(draft, 'status');
      if (status.capacity !== undefined && status.allocatable === undefined)
        status.allocatable = { ...optionalFields(status, 'capacity') };
    },

    validateCreate(object) {
      const spec = optionalFields(object, 'spec') ?? {};
      return [
        ...validateAnnotations(object),
        ...validateTaints(spec),
        ...validateResources(object),
        ...validatePodCidrs(textsAt(spec, 'podCIDRs')),
      ];
    },

    validateUpdate: validateNodeUpdate,
    validateStatus: validateNodeUpdate,

    warnings({ spec }) {
      const { configSource, externalID } = (spec ?? {}) as Fields;
      return [
        ...(configSource === undefined ? [] : ['spec.configSource: the feature is no longer supported']),
        ...(externalID === undefined ? [] : ['spec.externalID: this field is deprecated, and is unused by Kubernetes']),
      ];
    },
  },
};
