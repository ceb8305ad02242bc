import { optionalFields, textAt } from '../fields/draft-fields.ts';
import { validateImmutable } from '../validation/immutable-field.ts';
import type { Kind } from '../../contract/kind.ts';
import { validateSlice } from './validation.ts';

export const resourceSliceKind: Kind = {
  groupResource: 'resourceslices.resource.k8s.io',
  strategy: {
    generation: 'spec',
    returnsDeleted: true,
    selectableFields: {
      'spec.driver': (object) => textAt(optionalFields(object, 'spec'), 'driver'),
      'spec.nodeName': (object) => textAt(optionalFields(object, 'spec'), 'nodeName'),
    },
    validateCreate: validateSlice,

    validateUpdate(object, old) {
      const spec = optionalFields(object, 'spec');
      const before = optionalFields(old, 'spec');
      return [
        ...validateImmutable(optionalFields(spec, 'pool'), optionalFields(before, 'pool'), 'spec.pool', ['name']),
        ...validateImmutable(spec, before, 'spec', ['driver', 'nodeName']),
        ...validateSlice(object),
      ];
    },

    warnings(object) {
      const driver = textAt(optionalFields(object, 'spec'), 'driver');
      if (driver === driver.toLowerCase()) return [];
      const name = JSON.stringify(driver);
      return [`spec.driver: driver names should be lowercase; ${name} contains uppercase characters`];
    },
  },
};
