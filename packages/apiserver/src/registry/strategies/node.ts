import type { KubeObject } from '@asterism/machinery';
import type { Strategy } from '../strategy.ts';
import { fieldsAt, optionalFields, setDefaults, textAt } from './draft-fields.ts';

export const nodeStrategy: Strategy = {
  createsWithStatus: true,

  selectableFields: {
    'spec.unschedulable': (object: KubeObject) => String(optionalFields(object, 'spec')?.unschedulable === true),
  },

  applyDefaults(draft) {
    const spec = fieldsAt(draft, 'spec');
    const podCIDR = textAt(spec, 'podCIDR');
    // The older field for one address family, the newer for two: what the one says the other says first.
    if (podCIDR !== '') setDefaults(spec, { podCIDRs: [podCIDR] });
  },
};
