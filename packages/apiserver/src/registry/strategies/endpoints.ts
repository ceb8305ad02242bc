import type { Strategy } from '../strategy.ts';
import { listAt, setDefaultText } from './draft-fields.ts';

/** Deprecated since Kubernetes 1.33, and still what old clients read. */
export const endpointsStrategy: Strategy = {
  applyDefaults(draft) {
    for (const subset of listAt(draft, 'subsets')) {
      for (const port of listAt(subset, 'ports')) setDefaultText(port, 'protocol', 'TCP');
    }
  },
};
