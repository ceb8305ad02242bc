import Type from 'typebox';
import { ClusterAffinity, ResourceSelector, Toleration } from './parts.ts';

const NamedAffinity = Type.Intersect([Type.Object({ affinityName: Type.String({ minLength: 1 }) }), ClusterAffinity]);

const SpreadConstraint = Type.Object({
  spreadByField: Type.Optional(
    Type.Enum(['cluster', 'region', 'zone', 'provider'], { description: 'What clusters are grouped by' }),
  ),
  spreadByLabel: Type.Optional(Type.String({ description: 'In its place: the label by whose value they are grouped' })),
  minGroups: Type.Optional(Type.Integer({ minimum: 0, description: 'At least so many; 0 is 1' })),
  maxGroups: Type.Optional(Type.Integer({ minimum: 0, description: 'At most so many; 0 is no limit' })),
});

const WeightPreference = Type.Object({
  staticWeightList: Type.Optional(
    Type.Array(
      Type.Object({
        targetCluster: ClusterAffinity,
        weight: Type.Integer({ minimum: 0, format: 'int64', description: '0: no replicas' }),
      }),
    ),
  ),
  dynamicWeight: Type.Optional(
    Type.Enum(['AvailableReplicas'], {
      description: 'Shares by the room that each cluster has; before staticWeightList',
    }),
  ),
});

const ReplicaScheduling = Type.Object({
  replicaSchedulingType: Type.Optional(
    Type.Enum(['Duplicated', 'Divided'], {
      description: 'Duplicated (the default): all replicas in each cluster',
    }),
  ),
  replicaDivisionPreference: Type.Optional(
    Type.Enum(['Weighted', 'Aggregated'], { description: 'Aggregated: into as few clusters as have room' }),
  ),
  weightPreference: Type.Optional(WeightPreference),
});

export const Placement = Type.Object({
  clusterAffinity: Type.Optional(ClusterAffinity),
  clusterAffinities: Type.Optional(
    Type.Array(NamedAffinity, {
      description: 'In place of clusterAffinity: tried in this order, the first that fits is taken',
    }),
  ),
  clusterTolerations: Type.Optional(Type.Array(Toleration, { description: 'Of taints that clusters have' })),
  spreadConstraints: Type.Optional(
    Type.Array(SpreadConstraint, {
      description: 'Over how many clusters, regions, zones, providers or values of a label',
    }),
  ),
  replicaScheduling: Type.Optional(ReplicaScheduling),
});

export const ConflictResolution = Type.Enum(['Abort', 'Overwrite'], {
  description:
    'What becomes of an object that stands in the member and is not ours: it stays (the default), or is taken over',
});

export const PropagationPolicySpec = Type.Object({
  resourceSelectors: Type.Array(ResourceSelector, { minItems: 1, description: 'Which templates' }),
  priority: Type.Optional(
    Type.Integer({
      format: 'int32',
      description: 'Of policies that select one template the highest has it; default 0',
    }),
  ),
  propagateDeps: Type.Optional(
    Type.Boolean({
      description: 'What a workload names (ConfigMaps, Secrets, volume claims, service accounts) goes with it',
    }),
  ),
  placement: Type.Optional(Placement),
  conflictResolution: Type.Optional(ConflictResolution),
  preserveResourcesOnDeletion: Type.Optional(
    Type.Boolean({ description: 'Objects stay in the members when the template or the policy is deleted' }),
  ),
});
