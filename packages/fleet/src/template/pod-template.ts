import { isJsonObject, type KubeObject, type PodSpec, valueAtPointer } from '@asterism/machinery';

type Path = readonly (string | number)[];

/** Where a kind keeps the spec of its pods. */
const POD_SPEC_PATHS: ReadonlyMap<string, readonly string[]> = new Map([
  ['Pod', ['spec']],
  ['PodTemplate', ['template', 'spec']],
  ['CronJob', ['spec', 'jobTemplate', 'spec', 'template', 'spec']],
]);

/** Kinds without a place of their own that run pods do it as a Deployment does. */
const USUAL_PATH: readonly string[] = ['spec', 'template', 'spec'];

/** The spec of the pods that the object runs, where there is one such; undefined where no containers stand there. */
export function podSpecOf(object: KubeObject): PodSpec | undefined {
  const path = podSpecPath(object);
  return path ? (valueAtPointer(object, path) as PodSpec) : undefined;
}

/** The specs of all pods that the object runs, of any kind: see {@link podSpecPaths}. */
export function podSpecsOf(object: KubeObject): PodSpec[] {
  return podSpecPaths(object).map((path) => valueAtPointer(object, path.map(String)) as PodSpec);
}

/**
 * Where an object has the specs of pods: one place for a built-in kind, and for others, such as a JobSet or a RayCluster, wherever
 * a field named `template`, or `…Template`, holds a spec with containers. None for an object that runs no pods.
 */
export function podSpecPaths(object: KubeObject): Path[] {
  const usual = podSpecPath(object);
  return usual ? [usual] : [...templatesIn(object['spec'], ['spec'])];
}

function podSpecPath(object: KubeObject): readonly string[] | undefined {
  const path = POD_SPEC_PATHS.get(object.kind ?? '') ?? USUAL_PATH;
  const spec = valueAtPointer(object, path);
  return isJsonObject(spec) && Array.isArray(spec['containers']) ? path : undefined;
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
