import type { KubeObject } from '@asterism/machinery';

/** Between the version that is stored and one that is served. Both functions return new objects, or the same one. */
export interface Conversion {
  fromStorage(object: KubeObject): KubeObject;
  toStorage(object: KubeObject): KubeObject;
}
