import { fieldsAt } from '../kinds/fields/draft-fields.ts';
import { type AdmissionPlugin, isCreation, type PluginContext } from './admission-plugin.ts';
import { defaultClassOf } from './default-class.ts';

const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';
const MARKS = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

/** A claim that names no class, not even the empty one, is of the default class. */
export function defaultStorageClass({ store }: PluginContext): AdmissionPlugin {
  return {
    resources: ['persistentvolumeclaims'],
    mutate(request) {
      const { object } = request;
      if (!isCreation(request) || object === undefined) return;
      const spec = fieldsAt(object, 'spec');
      if (object.metadata?.annotations?.[CLASS_ANNOTATION] !== undefined || typeof spec.storageClassName === 'string') {
        return;
      }
      const name = defaultClassOf(store, 'storageclasses.storage.k8s.io', MARKS)?.metadata?.name;
      if (name !== undefined) spec.storageClassName = name;
    },
  };
}
