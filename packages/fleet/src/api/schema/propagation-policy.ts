import Type from 'typebox';
import { ClusterAffinity, ResourceSelector, Toleration } from './parts.ts';

const NamedAffinity = Type.Intersect([Type.Object({ affinityName: Type.String({ minLength: 1 }) }), ClusterAffinity]);

const SpreadConstraint = Type.Object({
  spreadByField: Type.Optional(Type.Enum(['cluster', 'region', 'zone', 'provider'])),
  spreadByLabel: Type.Optional(Type.String()),
  minGroups: Type.Optional(Type.Integer({ minimum: 0 })),
  maxGroups: Type.Optional(Type.Integer({ minimum: 0 })),
});

const WeightPreference = Type.Object({
  staticWeightList: Type.Optional(
    Type.Array(
      Type.Object({
        targetCluster: ClusterAffinity,
        weight: Type.Integer({ minimum: 0, format: 'int64' }),
      }),
    ),
  ),
  dynamicWeight: Type.Optional(Type.Enum(['AvailableReplicas'])),
});

const ReplicaScheduling = Type.Object({
  replicaSchedulingType: Type.Optional(Type.Enum(['Duplicated', 'Divided'])),
  replicaDivisionPreference: Type.Optional(Type.Enum(['Weighted', 'Aggregated'])),
  weightPreference: Type.Optional(WeightPreference),
});

export const Placement = Type.Object({
  clusterAffinity: Type.Optional(ClusterAffinity),
  clusterAffinities: Type.Optional(Type.Array(NamedAffinity)),
  clusterTolerations: Type.Optional(Type.Array(Toleration)),
  spreadConstraints: Type.Optional(Type.Array(SpreadConstraint)),
  replicaScheduling: Type.Optional(ReplicaScheduling),
});

export const ConflictResolution = Type.Enum(['Abort', 'Overwrite']);

export const PropagationPolicySpec = Type.Object({
  resourceSelectors: Type.Array(ResourceSelector, { minItems: 1 }),
  priority: Type.Optional(Type.Integer({ format: 'int32' })),
  propagateDeps: Type.Optional(Type.Boolean()),
  placement: Type.Optional(Placement),
  conflictResolution: Type.Optional(ConflictResolution),
  preserveResourcesOnDeletion: Type.Optional(Type.Boolean()),
});
