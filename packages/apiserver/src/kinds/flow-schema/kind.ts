import { fieldsAt } from '../fields/draft-fields.ts';
import type { Kind } from '../../contract/kind.ts';
import { validateSpec } from './validation.ts';
import { validateConditionTypes } from '../priority-level-configuration/validation.ts';

const DEFAULT_PRECEDENCE = 1000;

export const flowSchemaKind: Kind = {
  groupResource: 'flowschemas.flowcontrol.apiserver.k8s.io',
  strategy: {
    generation: 'spec',
    resetFields: { status: [['spec'], ['metadata']] },

    applyDefaults(draft) {
      const spec = fieldsAt(draft, 'spec');
      if (!spec.matchingPrecedence) spec.matchingPrecedence = DEFAULT_PRECEDENCE;
    },

    validate: (object) => [...validateSpec(object), ...validateConditionTypes(object)],
    validateStatus: validateConditionTypes,
  },
};
