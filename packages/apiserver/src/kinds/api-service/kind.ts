import { validatePathSegmentName } from '@asterism/machinery';
import { optionalFields, setDefaults } from '../fields/draft-fields.ts';
import type { Kind } from '../../contract/kind.ts';
import { validateApiService } from './validation.ts';

export const apiServiceKind: Kind = {
  groupResource: 'apiservices.apiregistration.k8s.io',
  strategy: {
    requiresResourceVersion: true,
    metadataChecks: 4,
    resetFields: { status: [['spec'], ['metadata']] },
    allowsAnyFinalizer: true,
    validateName: validatePathSegmentName,

    applyDefaults(draft) {
      const service = optionalFields(optionalFields(draft, 'spec'), 'service');
      if (service) setDefaults(service, { port: 443 });
    },

    validate: validateApiService,
  },
};
