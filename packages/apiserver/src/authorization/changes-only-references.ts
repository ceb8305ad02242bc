import { deepEqual, type KubeObject } from '@asterism/machinery';

/**
 * Whether an update changes nothing, or only finalizers and owner references: these let the garbage collector delete an object,
 * and grant nothing (upstream's `IsOnlyMutatingGCFields`).
 */
export function changesOnlyReferences(object: KubeObject, old: KubeObject): boolean {
  return deepEqual(comparable(object), comparable(old));
}

/** Fields that only the server writes do not count either. Null, an empty list and no value are the same in Kubernetes' types. */
function comparable({ metadata = {}, ...rest }: KubeObject): unknown {
  const {
    finalizers: _,
    ownerReferences: __,
    managedFields: ___,
    resourceVersion: ____,
    generation: _____,
    labels,
    annotations,
    ...own
  } = metadata;
  return withoutNothing({
    ...rest,
    metadata: { ...own, labels: entriesOf(labels), annotations: entriesOf(annotations) },
  });
}

function entriesOf(map: Readonly<Record<string, string>> | null | undefined): unknown {
  return map && Object.keys(map).length > 0 ? map : undefined;
}

function withoutNothing(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNothing);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(
    ([, each]) => each !== undefined && each !== null && !(Array.isArray(each) && each.length === 0),
  );
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutNothing(each)]));
}
