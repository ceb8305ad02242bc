import { optionalFields, textAt } from '../kinds/fields/draft-fields.ts';
import type { AdmissionPlugin, PluginContext } from './admission-plugin.ts';

const LABELS = ['topology.kubernetes.io/region', 'topology.kubernetes.io/zone'];

/** A pod that gets its node has that node's region and zone as labels, instead of what it said itself (KEP-4742). */
export function podTopologyLabels({ store }: PluginContext): AdmissionPlugin {
  return {
    resources: ['pods'],
    mutate({ operation, subresource, object }) {
      const binds = operation === 'CREATE' ? subresource === undefined : subresource === 'binding';
      const node = textAt(optionalFields(object, 'spec'), 'nodeName');
      if (!binds || node === '' || object?.metadata === undefined) return;
      const labels = store.get('nodes', undefined, node)?.parse().metadata?.labels;
      for (const label of LABELS) {
        const value = labels?.[label];
        if (value !== undefined) object.metadata.labels = { ...object.metadata.labels, [label]: value };
      }
    },
  };
}
