import { fieldsAt, optionalFields, setDefaults } from '../fields/draft-fields.ts';
import type { Kind } from '../../contract/kind.ts';
import { EXEMPT, validateConditionTypes, validateSpec } from './validation.ts';

export const priorityLevelConfigurationKind: Kind = {
  groupResource: 'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io',
  strategy: {
    generation: 'spec',
    resetFields: { status: [['spec'], ['metadata']] },

    applyDefaults(draft) {
      const spec = fieldsAt(draft, 'spec');
      const exempt = optionalFields(spec, EXEMPT);
      if (exempt) setDefaults(exempt, { nominalConcurrencyShares: 0, lendablePercent: 0 });
      const limited = optionalFields(spec, 'limited');
      if (!limited) return;
      setDefaults(limited, { nominalConcurrencyShares: 30, lendablePercent: 0 });
      const queuing = optionalFields(optionalFields(limited, 'limitResponse'), 'queuing');
      if (!queuing) return;
      for (const [key, value] of Object.entries({ queues: 64, handSize: 8, queueLengthLimit: 50 }))
        queuing[key] ||= value;
    },

    validate: (object) => [...validateSpec(object), ...validateConditionTypes(object)],
    validateStatus: validateConditionTypes,
  },
};
