import { deepEqual } from '@asterism/machinery';
import { API_VERSION, BINDING_UID_LABEL, clusterNamespace, clusterOfNamespace, type Work } from '../../api/index.ts';
import type { Binding } from '../../template/binding-client.ts';
import { workName } from '../../template/binding-name.ts';
import { isDispatchingSuspended } from '../../template/dispatch-suspension.ts';
import type { Rendered } from '../render/render-manifest.ts';

/** On a Work, until what it made in its cluster is gone. */
export const EXECUTOR_FINALIZER = 'asterism.dev/executor';

/** On a Work: the override policies that shaped it, in the order in which they were applied. */
export const OVERRIDES_ANNOTATION = 'asterism.dev/applied-overrides';

/** The Work by which a binding's template stands in one cluster. */
export function newWork(binding: Binding, clusterName: string, rendered: Rendered): Work {
  const { name = '', namespace, uid = '' } = binding.metadata;
  return {
    apiVersion: API_VERSION,
    kind: 'Work',
    metadata: {
      name: workName({ namespace, name }),
      namespace: clusterNamespace(clusterName),
      labels: { [BINDING_UID_LABEL]: uid },
      ...annotationsOf(rendered),
      finalizers: [EXECUTOR_FINALIZER],
    },
    spec: workSpec(binding, clusterName, rendered),
  };
}

function workSpec({ spec }: Binding, clusterName: string, { objects, namespaceLabels }: Rendered): Work['spec'] {
  const { conflictResolution, preserveResourcesOnDeletion } = spec;
  return {
    manifests: [...objects],
    ...(conflictResolution ? { conflictResolution } : {}),
    ...(preserveResourcesOnDeletion ? { preserveResourcesOnDeletion } : {}),
    ...(namespaceLabels ? { namespaceLabels } : {}),
    ...(isDispatchingSuspended(spec, clusterName) ? { suspendDispatching: true } : {}),
  };
}

/** Whether the Work says all that the binding wants of its cluster. */
export function isUpToDate(work: Work, binding: Binding, rendered: Rendered): boolean {
  return deepEqual(work.spec, workSpec(binding, clusterOfWork(work), rendered));
}

/** What to patch so that the Work says what it should; undefined where it does. */
export function workPatch(work: Work, binding: Binding, rendered: Rendered): object[] | undefined {
  const { metadata, spec } = newWork(binding, clusterOfWork(work), rendered);
  const { labels, annotations } = work.metadata;
  return patchOf(work, [
    ...(deepEqual(work.spec, spec) ? [] : [{ op: 'add', path: '/spec', value: spec }]),
    ...(deepEqual(labels, metadata.labels) ? [] : [{ op: 'add', path: '/metadata/labels', value: metadata.labels }]),
    ...(deepEqual(annotations, metadata.annotations)
      ? []
      : [{ op: 'add', path: '/metadata/annotations', value: metadata.annotations ?? {} }]),
  ]);
}

/** What to patch so that nothing is written to the Work's cluster any more; undefined where it says so. */
export function suspensionPatch(work: Work): object[] | undefined {
  const held = work.spec.suspendDispatching === true;
  return patchOf(work, held ? [] : [{ op: 'add', path: '/spec/suspendDispatching', value: true }]);
}

function patchOf({ metadata }: Work, changes: readonly object[]): object[] | undefined {
  return changes.length === 0 ? undefined : [{ op: 'test', path: '/metadata/uid', value: metadata.uid }, ...changes];
}

/** The cluster that a Work is for. */
export function clusterOfWork({ metadata }: Work): string {
  return clusterOfNamespace(metadata.namespace ?? '') ?? '';
}

function annotationsOf({ policies }: Rendered): { annotations?: Record<string, string> } {
  return policies.length === 0 ? {} : { annotations: { [OVERRIDES_ANNOTATION]: policies.join(',') } };
}
