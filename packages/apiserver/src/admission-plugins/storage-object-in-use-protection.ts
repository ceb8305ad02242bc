import { addFinalizer } from '../kinds/fields/add-finalizer.ts';
import { type AdmissionPlugin, isCreation } from './admission-plugin.ts';
import type { Draft } from '../contract/strategy.ts';

/** By the resource: what holds an object until nothing uses it any more. */
const FINALIZERS: Readonly<Record<string, string>> = {
  persistentvolumeclaims: 'kubernetes.io/pvc-protection',
  persistentvolumes: 'kubernetes.io/pv-protection',
  volumeattributesclasses: 'kubernetes.io/vac-protection',
};

/** Volumes, claims and classes of their attributes outlive what uses them. */
export function storageObjectInUseProtection(): AdmissionPlugin {
  return {
    resources: ['persistentvolumeclaims', 'persistentvolumes', 'volumeattributesclasses.storage.k8s.io'],
    mutate(request) {
      const finalizer = FINALIZERS[request.resource.type.resource];
      if (!isCreation(request) || request.object?.metadata === undefined || finalizer === undefined) return;
      addFinalizer(request.object as Draft, finalizer);
    },
  };
}
