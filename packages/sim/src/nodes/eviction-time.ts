import type { Toleration } from '@asterism/machinery';
import type { Taint } from './node-taints.ts';
import { tolerates } from '../workloads/node-fit.ts';

/**
 * When a pod has to leave a node with these taints, in milliseconds since 1970: at once (0) where one with `NoExecute` is not
 * tolerated, at the end of the shortest `tolerationSeconds` where all are; undefined where it may stay.
 */
export function evictionTime(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  now: number,
): number | undefined {
  const times = taints
    .filter(({ effect }) => effect === 'NoExecute')
    .map((taint) => {
      const tolerating = tolerations.filter((toleration) => tolerates(toleration, taint));
      if (tolerating.length === 0) return 0;
      const limits = tolerating.flatMap(({ tolerationSeconds }) => tolerationSeconds ?? []);
      const since = taint.timeAdded === undefined ? now : Date.parse(taint.timeAdded);
      return limits.length === 0 ? Infinity : since + Math.max(0, Math.min(...limits)) * 1000;
    });
  const first = Math.min(Infinity, ...times);
  return first === Infinity ? undefined : first;
}
