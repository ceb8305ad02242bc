import { isJsonObject, type KubeObject, type PodSpec, valueAtPointer } from '@asterism/machinery';

/** Where a kind keeps the spec of its pods. */
const POD_SPEC_PATHS: ReadonlyMap<string, readonly string[]> = new Map([
  ['Pod', ['spec']],
  ['PodTemplate', ['template', 'spec']],
  ['CronJob', ['spec', 'jobTemplate', 'spec', 'template', 'spec']],
]);

/** Kinds without a place of their own that run pods do it as a Deployment does. */
const USUAL_PATH: readonly string[] = ['spec', 'template', 'spec'];

/** The path of an object's pod spec, e.g. `['spec', 'template', 'spec']`; undefined where no containers stand there. */
export function podSpecPath(object: KubeObject): readonly string[] | undefined {
  const path = POD_SPEC_PATHS.get(object.kind ?? '') ?? USUAL_PATH;
  const spec = valueAtPointer(object, path);
  return isJsonObject(spec) && Array.isArray(spec['containers']) ? path : undefined;
}

/** The spec of the pods that the object runs, of any kind that has one. */
export function podSpecOf(object: KubeObject): PodSpec | undefined {
  const path = podSpecPath(object);
  return path ? (valueAtPointer(object, path) as PodSpec) : undefined;
}
