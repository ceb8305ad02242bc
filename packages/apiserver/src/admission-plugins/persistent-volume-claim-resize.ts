import { compareQuantities, type KubeObject, parseQuantity, type Quantity } from '@asterism/machinery';
import { optionalFields, textAt } from '../kinds/fields/draft-fields.ts';
import { type AdmissionPlugin, type PluginContext, refusal } from './admission-plugin.ts';

const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';
const NO_RESIZE =
  'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';

/** A claim grows only where its class says that its volumes can. */
export function persistentVolumeClaimResize({ store }: PluginContext): AdmissionPlugin {
  return {
    resources: ['persistentvolumeclaims'],
    validate(request) {
      const { operation, subresource, object, oldObject } = request;
      if (operation !== 'UPDATE' || subresource !== undefined || !object || !oldObject) return;
      if (compareQuantities(sizeOf(object), sizeOf(oldObject)) <= 0) return;
      const name = classOf(object);
      const stored = name === '' || name !== classOf(oldObject) ? undefined : classNamed(name);
      if (stored?.allowVolumeExpansion !== true) throw refusal(request, NO_RESIZE);
    },
  };

  function classNamed(name: string): KubeObject | undefined {
    return store.get('storageclasses.storage.k8s.io', undefined, name)?.parse();
  }
}

function sizeOf(claim: KubeObject): Quantity {
  const requests = optionalFields(optionalFields(optionalFields(claim, 'spec'), 'resources'), 'requests');
  return parseQuantity(textAt(requests, 'storage') || '0');
}

function classOf(claim: KubeObject): string {
  return claim.metadata?.annotations?.[CLASS_ANNOTATION] ?? textAt(optionalFields(claim, 'spec'), 'storageClassName');
}
