import { fieldsAt, listAt } from '../kinds/fields/draft-fields.ts';
import { type AdmissionPlugin, isCreation } from './admission-plugin.ts';

const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/** Nothing is scheduled to a node that nobody has seen ready. */
export function taintNodesByCondition(): AdmissionPlugin {
  return {
    resources: ['nodes'],
    mutate(request) {
      if (!isCreation(request) || request.object === undefined) return;
      const spec = fieldsAt(request.object, 'spec');
      const taints = listAt(spec, 'taints');
      if (taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect)) return;
      spec.taints = [...taints, { ...NOT_READY }];
    },
  };
}
