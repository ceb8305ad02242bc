import { type Fields, fieldsAt, listAt } from '../kinds/fields/draft-fields.ts';
import { type AdmissionPlugin, isCreation } from './admission-plugin.ts';

const CONTAINERS = ['initContainers', 'containers'];

/** Every container's image is pulled anew, so that only those run it who may pull it. */
export function alwaysPullImages(): AdmissionPlugin {
  return {
    resources: ['pods'],
    mutate(request) {
      const { operation, subresource, object } = request;
      if (object === undefined || !(isCreation(request) || (operation === 'UPDATE' && subresource === undefined)))
        return;
      for (const container of containersOf(fieldsAt(object, 'spec'))) container.imagePullPolicy = 'Always';
    },
  };
}

function containersOf(spec: Fields): Fields[] {
  return CONTAINERS.flatMap((list) => listAt(spec, list));
}
