import { optionalFields, textsAt } from '../kinds/fields/draft-fields.ts';
import { type AdmissionPlugin, refusal } from './admission-plugin.ts';

/** No Service gets an external address that it does not have. */
export function denyServiceExternalIps(): AdmissionPlugin {
  return {
    resources: ['services'],
    validate(request) {
      const { operation, subresource, object, oldObject } = request;
      if (operation === 'DELETE' || subresource !== undefined) return;
      const before = new Set(textsAt(optionalFields(oldObject, 'spec'), 'externalIPs'));
      const now = textsAt(optionalFields(object, 'spec'), 'externalIPs');
      if (now.every((address) => before.has(address))) return;
      throw refusal(request, 'Use of external IPs is denied by admission control.');
    },
  };
}
