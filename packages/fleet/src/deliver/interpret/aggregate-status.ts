import {
  aggregateAutoscaler,
  aggregateDaemonSet,
  aggregateDisruptionBudget,
  aggregateReplicaSet,
  aggregateStatefulSet,
} from './aggregate-counters.ts';
import { aggregateCustom } from './aggregate-custom.ts';
import { aggregateDeployment } from './aggregate-deployment.ts';
import { aggregateCronJob, aggregateJob } from './aggregate-job.ts';
import { aggregateIngress, aggregateService } from './aggregate-load-balancer.ts';
import { aggregateClaim, aggregatePod, aggregateVolume } from './aggregate-phase.ts';
import type { Aggregate } from './aggregation.ts';
import { kindKey } from './kind-key.ts';

const AGGREGATES: ReadonlyMap<string, Aggregate> = new Map([
  ['Deployment.apps', aggregateDeployment],
  ['StatefulSet.apps', aggregateStatefulSet],
  ['ReplicaSet.apps', aggregateReplicaSet],
  ['DaemonSet.apps', aggregateDaemonSet],
  ['Job.batch', aggregateJob],
  ['CronJob.batch', aggregateCronJob],
  ['Service', aggregateService],
  ['Ingress.networking.k8s.io', aggregateIngress],
  ['PersistentVolumeClaim', aggregateClaim],
  ['PersistentVolume', aggregateVolume],
  ['Pod', aggregatePod],
  ['PodDisruptionBudget.policy', aggregateDisruptionBudget],
  ['HorizontalPodAutoscaler.autoscaling', aggregateAutoscaler],
]);

/** The template's own status from what its clusters report; undefined where there is nothing to write. */
export const aggregateStatus: Aggregate = (aggregation) =>
  (AGGREGATES.get(kindKey(aggregation.template)) ?? aggregateCustom)(aggregation);
