import type { KubeObject } from '@asterism/machinery';
import {
  fieldsAt,
  listAt,
  optionalFields,
  setDefaults,
  setDefaultText,
  textAt,
  textsAt,
} from '../fields/draft-fields.ts';
import { cidrWarnings } from '../ip/ip-address.ts';
import type { Kind } from '../../contract/kind.ts';
import { type PeerPlace, peersIn, validatePolicy } from './validation.ts';

export const networkPolicyKind: Kind = {
  groupResource: 'networkpolicies.networking.k8s.io',
  strategy: {
    generation: 'spec',

    applyDefaults(draft) {
      const spec = fieldsAt(draft, 'spec');
      for (const rule of [...listAt(spec, 'ingress'), ...listAt(spec, 'egress')]) {
        for (const port of listAt(rule, 'ports')) setDefaultText(port, 'protocol', 'TCP');
      }
      setDefaults(spec, { policyTypes: listAt(spec, 'egress').length > 0 ? ['Ingress', 'Egress'] : ['Ingress'] });
    },

    validateCreate: (object) => validatePolicy(object, []),
    validateUpdate: (object, old) =>
      validatePolicy(
        object,
        peersOf(old).flatMap(({ peer }) => {
          const block = optionalFields(peer, 'ipBlock');
          return block ? [textAt(block, 'cidr'), ...textsAt(block, 'except')] : [];
        }),
      ),

    warnings: (object) =>
      peersOf(object).flatMap(({ peer, at }) => {
        const block = optionalFields(peer, 'ipBlock');
        if (!block) return [];
        return [
          ...cidrWarnings(textAt(block, 'cidr'), `${at}.ipBlock.cidr`),
          ...textsAt(block, 'except').flatMap((cidr, index) => cidrWarnings(cidr, `${at}.ipBlock.except[${index}]`)),
        ];
      }),
  },
};

function peersOf(object: KubeObject): PeerPlace[] {
  const spec = optionalFields(object, 'spec');
  return ['ingress', 'egress'].flatMap((direction) =>
    listAt(spec, direction).flatMap((rule, index) => peersIn(rule, direction, `spec.${direction}[${index}]`)),
  );
}
