import Type from 'typebox';
import { Conditions, Foreign, ObjectReference, ResourceList } from './parts.ts';
import { ConflictResolution, Placement, Suspension } from './propagation-policy.ts';

export const TargetCluster = Type.Object({
  name: Type.String(),
  replicas: Type.Optional(Type.Integer({ format: 'int32', description: 'Its share, where replicas are divided' })),
});

/** Why a cluster is in or out: one for every cluster that the binding names. */
export const Decision = Type.Object({
  cluster: Type.String(),
  selected: Type.Boolean({ description: 'Whether the template goes there' }),
  /** A word to branch on: `Selected`, `ClusterAffinity`, `TaintToleration`, `APIEnablement`, `SpreadConstraint`, `ZeroWeight`, … */
  reason: Type.String({
    description:
      'A word to branch on: Selected, ClusterAffinity, TaintToleration, APIEnablement, SpreadConstraint, ZeroWeight, Standing, …',
  }),
  message: Type.String({ description: 'The reason for a person' }),
  score: Type.Optional(Type.Integer()),
  weight: Type.Optional(Type.Integer({ format: 'int64' })),
  availableReplicas: Type.Optional(Type.Integer()),
});

export const ResourceBindingSpec = Type.Object({
  resource: ObjectReference,
  policy: Type.Optional(ObjectReference),
  /** The bindings whose template needs this one: this follows them. */
  requiredBy: Type.Optional(
    Type.Array(ObjectReference, { description: 'The bindings whose template needs this one: this follows them' }),
  ),
  placement: Type.Optional(Placement),
  propagateDeps: Type.Optional(Type.Boolean()),
  allowNamespaceOverrides: Type.Optional(
    Type.Boolean({ description: 'OverridePolicies may change what a ClusterPropagationPolicy has placed' }),
  ),
  authority: Type.Optional(
    Type.String({
      description: 'Whose rights the placement needs: the author of the policy, or all who may write it',
    }),
  ),
  withheld: Type.Optional(
    Type.Array(
      Type.Object({
        apiVersion: Type.String(),
        kind: Type.String(),
        name: Type.String(),
        message: Type.String({ description: 'The right that is missing' }),
      }),
      { description: 'Objects that the template names and that do not follow it, because a right is missing' },
    ),
  ),
  conflictResolution: Type.Optional(ConflictResolution),
  preserveResourcesOnDeletion: Type.Optional(Type.Boolean()),
  suspension: Type.Optional(Suspension),
  /** Where the policy is Lazy: what the template was when the policy last took effect. */
  templateDigest: Type.Optional(
    Type.String({ description: 'Where the policy is Lazy: of the template, as of when the policy last took effect' }),
  ),
  replicas: Type.Optional(Type.Integer({ format: 'int32' })),
  replicaRequirements: Type.Optional(ResourceList),
  clusters: Type.Optional(Type.Array(TargetCluster, { description: 'Where the template goes' })),
  decisions: Type.Optional(
    Type.Array(Decision, { description: 'The reason for each cluster where the author of the policy may place' }),
  ),
  hiddenClusters: Type.Optional(
    Type.Object(
      {
        count: Type.Integer({ description: 'How many clusters the binding does not name' }),
        message: Type.String({ description: 'The right that is missing there' }),
      },
      {
        description:
          'The number of clusters that the binding does not name, because the right to place there is missing',
      },
    ),
  ),
  /** The group of `clusterAffinities` that the clusters were taken from. */
  affinityName: Type.Optional(
    Type.String({ description: 'The group of clusterAffinities that the clusters were taken from' }),
  ),
  /** Set while the placement cannot be met. `clusters` is then what could be before, so that nothing is taken away. */
  unschedulable: Type.Optional(
    Type.Object(
      {
        reason: Type.Enum([
          'NoClusterFit',
          'Unschedulable',
          'SchedulingSuspended',
          'AwaitsTemplate',
          'AwaitsOverrides',
          'NotPermitted',
        ]),
        message: Type.String(),
      },
      { description: 'Set while the placement cannot be met, or must not be; clusters is then what could be before' },
    ),
  ),
});

export const AggregatedStatusItem = Type.Object({
  clusterName: Type.String(),
  applied: Type.Optional(Type.Boolean({ description: 'Whether it stands there as it shall' })),
  appliedMessage: Type.Optional(Type.String({ description: 'Why not' })),
  health: Type.Optional(Type.Enum(['Healthy', 'Unhealthy', 'Unknown'])),
  status: Type.Optional(Foreign),
});

/** A rule of an override policy that could not be applied, or that found nothing to change. */
export const UnappliedOverride = Type.Object({
  kind: Type.Enum(['OverridePolicy', 'ClusterOverridePolicy']),
  namespace: Type.Optional(Type.String()),
  name: Type.String(),
  rule: Type.Optional(Type.Integer({ description: 'Its index in overrideRules; none: the policy itself' })),
  overrider: Type.Optional(Type.String({ description: 'Its place in the rule, such as imageOverrider[0]' })),
  /** `Failed` keeps the object from the clusters, which stay as they are; of `NoEffect` and `Refused` the rest goes there. */
  reason: Type.Enum(['Failed', 'NoEffect', 'Refused'], {
    description:
      'Failed keeps the object from the clusters, which stay as they are; of NoEffect the rest goes there. Refused: the policy must not change this object, which is delivered without it',
  }),
  message: Type.String({ description: 'The reason for a person' }),
  clusters: Type.Array(Type.String(), { description: 'Where' }),
});

export const ResourceBindingStatus = Type.Object({
  observedGeneration: Type.Optional(Type.Integer({ format: 'int64' })),
  conditions: Type.Optional(Conditions),
  /** `ant 6, bee 3`: the clusters with their replicas, for a column: a printer column shows one value, not a list. */
  placed: Type.Optional(Type.String({ description: 'The clusters with their replicas, for a column: ant 6, bee 3' })),
  aggregatedStatus: Type.Optional(
    Type.Array(AggregatedStatusItem, { description: 'What became of it in each cluster' }),
  ),
  unappliedOverrides: Type.Optional(
    Type.Array(UnappliedOverride, {
      description: 'Rules of override policies that could not be applied, or changed nothing; the first 100',
    }),
  ),
});
