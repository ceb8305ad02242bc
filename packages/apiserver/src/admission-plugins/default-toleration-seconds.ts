import { fieldsAt, listAt } from '../kinds/fields/draft-fields.ts';
import type { AdmissionPlugin } from './admission-plugin.ts';

/** Seconds for which a pod stays on a node that fails, when it says nothing. */
const TOLERATION_SECONDS = 300;
const NODE_FAULTS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/** Pods stay for five minutes on a node that is not ready or cannot be reached, unless they say for how long. */
export function defaultTolerationSeconds(): AdmissionPlugin {
  return {
    resources: ['pods'],
    mutate({ operation, subresource, object }) {
      if (operation === 'DELETE' || subresource !== undefined || object === undefined) return;
      const spec = fieldsAt(object, 'spec');
      const tolerations = listAt(spec, 'tolerations');
      const added = NODE_FAULTS.filter(
        (fault) =>
          !tolerations.some(
            ({ key, effect }) =>
              (!key || key === fault) && (effect === 'NoExecute' || effect === undefined || effect === ''),
          ),
      ).map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: TOLERATION_SECONDS }));
      if (added.length > 0) spec.tolerations = [...tolerations, ...added];
    },
  };
}
