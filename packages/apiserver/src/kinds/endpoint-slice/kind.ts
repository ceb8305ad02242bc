import { deepEqual } from '@asterism/machinery';
import { listAt, setDefaults, setDefaultText, textsAt } from '../fields/draft-fields.ts';
import { validateImmutable } from '../validation/immutable-field.ts';
import { ipWarnings } from '../ip/ip-address.ts';
import type { Draft } from '../../contract/strategy.ts';
import type { Kind } from '../../contract/kind.ts';
import { endpointSliceV1Beta1 } from './v1beta1.ts';
import { validateSlice } from './validation.ts';

export const endpointSliceKind: Kind = {
  groupResource: 'endpointslices.discovery.k8s.io',
  legacyVersions: [
    // kube-proxy, kube-controller-manager and `kubectl describe endpointslice` of 1.20 use it.
    {
      group: 'discovery.k8s.io',
      version: 'v1beta1',
      conversion: endpointSliceV1Beta1,
      otherShape: true,
      deprecated: 'v1.21',
      removed: 'v1.25',
    },
  ],
  strategy: {
    generation: 'metadata',

    applyDefaults(draft) {
      for (const port of listAt(draft, 'ports')) {
        setDefaults(port, { name: '' });
        setDefaultText(port, 'protocol', 'TCP');
      }
    },

    /** What only `v1beta1` could say is dropped where it is new. */
    prepareForCreate: dropTopology,

    prepareForUpdate(draft, old) {
      if (!deepEqual(draft.endpoints ?? null, old.endpoints ?? null)) dropTopology(draft);
    },

    validateCreate: (object) => validateSlice(object, []),
    validateUpdate: (object, old) => [
      ...validateSlice(
        object,
        listAt(old, 'endpoints').flatMap((endpoint) => textsAt(endpoint, 'addresses')),
      ),
      ...validateImmutable(object, old, '', ['addressType']),
    ],

    warnings(object) {
      if (object.addressType === 'FQDN') return ['spec.addressType: FQDN endpoints are deprecated'];
      return listAt(object, 'endpoints').flatMap((endpoint, index) =>
        textsAt(endpoint, 'addresses').flatMap((ip, at) => ipWarnings(ip, `endpoints[${index}].addresses[${at}]`)),
      );
    },
  },
};

function dropTopology(draft: Draft): void {
  for (const endpoint of listAt(draft, 'endpoints')) delete endpoint.deprecatedTopology;
}
