import type { Strategy } from '../strategy.ts';
import { fieldsAt, listAt, setDefaults, setDefaultText } from './draft-fields.ts';

export const networkPolicyStrategy: Strategy = {
  applyDefaults(draft) {
    const spec = fieldsAt(draft, 'spec');
    for (const rule of [...listAt(spec, 'ingress'), ...listAt(spec, 'egress')]) {
      for (const port of listAt(rule, 'ports')) setDefaultText(port, 'protocol', 'TCP');
    }
    setDefaults(spec, { policyTypes: listAt(spec, 'egress').length > 0 ? ['Ingress', 'Egress'] : ['Ingress'] });
  },
};
