import {
  badRequest,
  type FieldError,
  failure,
  formatLabelSelector,
  invalid,
  type KubeObject,
  type LabelSelector,
  labelSelectorFromObject,
  notFound,
} from '@asterism/machinery';
import type { ServedVersion } from './served-version.ts';
import { validateMetadata } from './validate-metadata.ts';
import { invalidValue } from './invalid-value.ts';

interface ScalableView {
  spec?: { replicas?: number; selector?: unknown };
  status?: { replicas?: number };
}

const SCALE = { kind: 'Scale', apiVersion: 'autoscaling/v1' };

/** The Scale of a workload or of a custom resource with a scale subresource (`autoscaling/v1`). */
export function scaleOf(resource: ServedVersion, object: KubeObject): KubeObject {
  if (!resource.hasSubresource('scale')) throw notFound(resource.type, object.metadata?.name ?? '');
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata ?? {};
  const metadata = { name, ...(namespace ? { namespace } : {}), uid, resourceVersion, creationTimestamp };
  const { replicas, current, selector } = resource.scalePaths ? customScale(resource, object) : builtinScale(object);
  return {
    ...SCALE,
    metadata: metadata as KubeObject['metadata'] & object,
    spec: replicas ? { replicas } : {},
    status: { replicas: current, ...(selector === '' ? {} : { selector }) },
  };
}

/** Stands for replicas that a custom resource does not have, so that a write that leaves them out can be told. */
const NO_REPLICAS = -(2 ** 31);

/** The Scale that a write changes: there even where a custom resource has no replicas yet. */
export function scaleForUpdate(resource: ServedVersion, object: KubeObject): KubeObject {
  const { scalePaths } = resource;
  const missing = scalePaths && typeof getPath(object, segments(scalePaths.specReplicasPath)) !== 'number';
  if (!missing) return scaleOf(resource, object);
  const path = replicasPath(resource);
  return scaleOf(resource, setPath(object, path, NO_REPLICAS) as KubeObject);
}

/**
 * `object` with the replicas of a Scale. Rejects with 422 for a negative number (of a custom resource, its own validation
 * says so), and with 400 where the replicas that a custom resource did not have are still missing.
 */
export function withScale(resource: ServedVersion, object: KubeObject, scale: KubeObject): KubeObject {
  const replicas = (scale as ScalableView).spec?.replicas ?? 0;
  if (!resource.scalePaths) requireValidScale(resource, object.metadata?.name ?? '', scale, replicas);
  if (replicas === NO_REPLICAS) {
    throw badRequest(
      `the spec replicas field ${JSON.stringify(resource.scalePaths?.specReplicasPath)} cannot be empty`,
    );
  }
  return setPath(object, replicasPath(resource), replicas) as KubeObject;
}

function requireValidScale(resource: ServedVersion, name: string, scale: KubeObject, replicas: number): void {
  const faults: FieldError[] = validateMetadata(resource, scale.metadata ?? {});
  if (replicas < 0) faults.push(invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0'));
  if (faults.length > 0) throw invalid({ group: 'autoscaling', kind: 'Scale' }, name, faults);
}

/** Where an object has its replicas. */
export function replicasPath({ scalePaths }: ServedVersion): string[] {
  return scalePaths ? segments(scalePaths.specReplicasPath) : ['spec', 'replicas'];
}

function builtinScale(object: KubeObject): { replicas: number | undefined; current: number; selector: string } {
  const { spec = {}, status = {} } = object as ScalableView;
  return { replicas: spec.replicas ?? 0, current: status.replicas ?? 0, selector: selectorText(spec.selector) };
}

function customScale(
  resource: ServedVersion,
  object: KubeObject,
): { replicas: number | undefined; current: number; selector: string } {
  const paths = resource.scalePaths;
  const at = (path: string | undefined): unknown => (path === undefined ? undefined : getPath(object, segments(path)));
  const replicas = at(paths?.specReplicasPath);
  const current = at(paths?.statusReplicasPath);
  const selector = at(paths?.labelSelectorPath);
  if (typeof replicas !== 'number') {
    const message = `the spec replicas field ${JSON.stringify(paths?.specReplicasPath)} does not exist`;
    throw failure(500, `Internal error occurred: ${message}`, { details: { causes: [{ message }] } });
  }
  return {
    replicas,
    current: typeof current === 'number' ? current : 0,
    selector: typeof selector === 'string' ? selector : '',
  };
}

/** ReplicationControllers select by a map, all others by a LabelSelector. */
function selectorText(selector: unknown): string {
  if (typeof selector !== 'object' || selector === null) return '';
  const isLabelSelector = 'matchLabels' in selector || 'matchExpressions' in selector;
  const object = isLabelSelector ? (selector as LabelSelector) : { matchLabels: selector as Record<string, string> };
  return formatLabelSelector(labelSelectorFromObject(object));
}

/** `.spec.replicas` as a CRD writes it: plain fields only. */
function segments(path: string): string[] {
  return path.split('.').filter((segment) => segment !== '');
}

function getPath(value: unknown, path: readonly string[]): unknown {
  let current = value;
  for (const segment of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = (current as Record<string, unknown>)[segment];
  }
  return current;
}

function setPath(value: unknown, [head, ...rest]: readonly string[], leaf: unknown): unknown {
  if (head === undefined) return leaf;
  const object = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  return { ...object, [head]: setPath(object[head], rest, leaf) };
}
