import { isJsonObject, type KubeObject } from '@asterism/machinery';
import { podSpecPath } from '../place/pod-template.ts';

type Path = readonly (string | number)[];

/**
 * Where an object has the specs of pods: one place for a built-in kind, and for others, such as a JobSet or a RayCluster, wherever
 * a field named `template`, or `…Template`, holds a spec with containers. None for an object that runs no pods.
 */
export function podSpecPaths(object: KubeObject): Path[] {
  const usual = podSpecPath(object);
  return usual ? [usual] : [...templatesIn(object['spec'], ['spec'])];
}

function* templatesIn(value: unknown, path: Path): Generator<Path> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* templatesIn(item, [...path, index]);
  } else if (isJsonObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      if (/template$/i.test(key) && isPodTemplate(member)) yield [...path, key, 'spec'];
      else yield* templatesIn(member, [...path, key]);
    }
  }
}

function isPodTemplate(value: unknown): boolean {
  return isJsonObject(value) && isJsonObject(value['spec']) && Array.isArray(value['spec']['containers']);
}
