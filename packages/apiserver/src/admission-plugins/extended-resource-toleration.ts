import { orderedText } from '@asterism/machinery';
import { isExtendedResource } from '../kinds/pod-spec/resource-names.ts';
import { type Fields, fieldsAt, listAt, optionalFields } from '../kinds/fields/draft-fields.ts';
import { type AdmissionPlugin, isCreation } from './admission-plugin.ts';

/** A pod that requests what only some nodes have may run on nodes that are tainted with the name of that resource. */
export function extendedResourceToleration(): AdmissionPlugin {
  return {
    resources: ['pods'],
    mutate(request) {
      if (!isCreation(request) || request.object === undefined) return;
      const spec = fieldsAt(request.object, 'spec');
      const tolerations = listAt(spec, 'tolerations');
      const known = new Set(tolerations.map(orderedText));
      const added = [...requestedNames(spec)]
        .sort()
        .map((key) => ({ key, operator: 'Exists' }))
        .filter((toleration) => !known.has(orderedText(toleration)));
      if (added.length > 0) spec.tolerations = [...tolerations, ...added];
    },
  };
}

function requestedNames(spec: Fields): Set<string> {
  const names = new Set<string>();
  for (const container of [...listAt(spec, 'containers'), ...listAt(spec, 'initContainers')]) {
    const requests = optionalFields(optionalFields(container, 'resources'), 'requests') ?? {};
    for (const name of Object.keys(requests)) if (isExtendedResource(name)) names.add(name);
  }
  return names;
}
