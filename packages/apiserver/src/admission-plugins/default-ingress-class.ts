import { fieldsAt } from '../kinds/fields/draft-fields.ts';
import { type AdmissionPlugin, isCreation, type PluginContext } from './admission-plugin.ts';
import { defaultClassOf } from './default-class.ts';

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';
const MARK = 'ingressclass.kubernetes.io/is-default-class';

/** An Ingress that names no class is of the default class. */
export function defaultIngressClass({ store }: PluginContext): AdmissionPlugin {
  return {
    resources: ['ingresses.networking.k8s.io'],
    mutate(request) {
      const { object } = request;
      if (!isCreation(request) || object === undefined) return;
      const spec = fieldsAt(object, 'spec');
      if (object.metadata?.annotations?.[CLASS_ANNOTATION] !== undefined || typeof spec.ingressClassName === 'string') {
        return;
      }
      const name = defaultClassOf(store, 'ingressclasses.networking.k8s.io', [MARK])?.metadata?.name;
      if (name !== undefined) spec.ingressClassName = name;
    },
  };
}
