import type { Job, Pod } from '@asterism/machinery';
import { podFromTemplate } from './pod-from-template.ts';
import { stableSuffix } from './stable-suffix.ts';

/** Holds a pod until its end is counted in the Job's status. */
export const TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking';
const INDEX = 'batch.kubernetes.io/job-completion-index';
const INDEX_FAILURES = 'batch.kubernetes.io/job-index-failure-count';

export const isIndexed = ({ spec }: Job): boolean => spec?.completionMode === 'Indexed';

/** The index that a pod of an Indexed Job works on. */
export function indexOf({ metadata }: Pod): number | undefined {
  const text = metadata?.annotations?.[INDEX];
  return text === undefined ? undefined : Number(text);
}

/** How often its index had failed before this pod. */
export function failuresBefore({ metadata }: Pod): number {
  return Number(metadata?.annotations?.[INDEX_FAILURES] ?? 0);
}

export const isTracked = ({ metadata }: Pod): boolean => metadata?.finalizers?.includes(TRACKING_FINALIZER) ?? false;

export const hasSucceeded = ({ status }: Pod): boolean => status?.phase === 'Succeeded';

/** One that is deleted counts as failed, unless the Job waits to see how it ends (`podReplacementPolicy: Failed`). */
export function hasFailed({ spec }: Job, { metadata, status }: Pod): boolean {
  if (status?.phase === 'Failed') return true;
  return (
    spec?.podReplacementPolicy !== 'Failed' &&
    metadata?.deletionTimestamp !== undefined &&
    status?.phase !== 'Succeeded'
  );
}

/** When a pod failed, in ms. */
export function endOf({ metadata, status }: Pod): number {
  const ends = (status?.containerStatuses ?? []).map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? ''));
  const known = ends.filter((end) => !Number.isNaN(end));
  if (known.length > 0) return Math.max(...known);
  return Date.parse(metadata?.deletionTimestamp ?? metadata?.creationTimestamp ?? '') || 0;
}

/** A name that no pod has; the same one from the same picture. */
export function freePodName({ metadata }: Job, index: number | undefined, taken: Set<string | undefined>): string {
  for (let slot = 0; ; slot += 1) {
    const middle = index === undefined ? '' : `${index}-`;
    const name = `${metadata?.name}-${middle}${stableSuffix(`${metadata?.uid}/${middle}${slot}`, 5)}`;
    if (taken.has(name)) continue;
    taken.add(name);
    return name;
  }
}

/** A Job's pod: tracked, and in an Indexed Job told which index it works on. */
export function jobPod(
  job: Job,
  { name, index, failures = 0 }: { name: string; index?: number; failures?: number },
): Pod {
  const pod = podFromTemplate(job, job.spec?.template, name);
  const tracked: Pod = {
    ...pod,
    metadata: { ...pod.metadata, finalizers: [...(pod.metadata?.finalizers ?? []), TRACKING_FINALIZER] },
  };
  if (index === undefined) return tracked;
  const { metadata, spec } = tracked;
  const perIndex: Record<string, string> =
    job.spec?.backoffLimitPerIndex === undefined ? {} : { [INDEX_FAILURES]: String(failures) };
  return {
    ...tracked,
    metadata: {
      ...metadata,
      generateName: `${job.metadata?.name}-${index}-`,
      annotations: { ...metadata?.annotations, [INDEX]: String(index), ...perIndex },
      labels: { ...metadata?.labels, [INDEX]: String(index) },
    },
    ...(spec
      ? {
          spec: {
            ...spec,
            hostname: `${job.metadata?.name}-${index}`,
            containers: spec.containers.map(withIndex),
            ...(spec.initContainers ? { initContainers: spec.initContainers.map(withIndex) } : {}),
          },
        }
      : {}),
  };
}

type Container = NonNullable<Pod['spec']>['containers'][number];

function withIndex(container: Container): Container {
  if (container.env?.some(({ name }) => name === 'JOB_COMPLETION_INDEX')) return container;
  const fieldRef = { fieldPath: `metadata.labels['${INDEX}']` };
  return { ...container, env: [...(container.env ?? []), { name: 'JOB_COMPLETION_INDEX', valueFrom: { fieldRef } }] };
}
