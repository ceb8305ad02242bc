import { listAt, setDefaultText, textAt } from '../fields/draft-fields.ts';
import { ipWarnings } from '../ip/ip-address.ts';
import type { Kind } from '../../contract/kind.ts';
import { addressesOf, validateEndpoints } from './validation.ts';

/** Deprecated since Kubernetes 1.33, and still what old clients read. */
export const endpointsKind: Kind = {
  groupResource: 'endpoints',
  warning: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  strategy: {
    createOnUpdate: true,

    applyDefaults(draft) {
      for (const subset of listAt(draft, 'subsets')) {
        for (const port of listAt(subset, 'ports')) setDefaultText(port, 'protocol', 'TCP');
      }
    },

    validateCreate: (object) => validateEndpoints(object, []),
    validateUpdate: (object, old) =>
      validateEndpoints(
        object,
        listAt(old, 'subsets').flatMap((subset) => addressesOf(subset).map(({ address }) => textAt(address, 'ip'))),
      ),

    warnings: (object) =>
      listAt(object, 'subsets').flatMap((subset, index) =>
        addressesOf(subset).flatMap(({ address, at }) =>
          ipWarnings(textAt(address, 'ip'), `subsets[${index}].${at}.ip`),
        ),
      ),
  },
};
