import Type from 'typebox';
import { ClusterAffinity, Conditions, ResourceSelector, Toleration } from './parts.ts';

const AffinityName = Type.Object({ affinityName: Type.String({ minLength: 1 }) });

const OverflowAffinities = Type.Object({
  overflowAffinities: Type.Optional(
    Type.Array(Type.Intersect([AffinityName, ClusterAffinity]), {
      description: 'More clusters for the replicas of a workload that the group itself has no room for, in this order',
    }),
  ),
});

const NamedAffinity = Type.Intersect([AffinityName, ClusterAffinity, OverflowAffinities]);

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
      description:
        'Duplicated: all replicas in each cluster, as without any replicaScheduling; default within one: Divided',
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
  strictSpread: Type.Optional(
    Type.Boolean({
      description:
        'For the clusters chosen the bounds of all spread constraints hold together, with room for all replicas, whatever the constraints are by and also where weights are listed; default: as Karmada chooses regions and clusters',
    }),
  ),
  replicaScheduling: Type.Optional(ReplicaScheduling),
});

/** What is held back for the time being. */
export const Suspension = Type.Object({
  dispatching: Type.Optional(
    Type.Boolean({
      description:
        'Nothing is written to any cluster: what stands there stays as it is, also where the placement leaves the cluster. Deleting the template or the policy removes it all the same',
    }),
  ),
  dispatchingOnClusters: Type.Optional(
    Type.Object(
      { clusterNames: Type.Optional(Type.Array(Type.String())) },
      { description: 'Likewise, for these clusters alone' },
    ),
  ),
  scheduling: Type.Optional(
    Type.Boolean({
      description:
        'Nothing is decided anew: what is placed stays, what is not waits. A queue lets one template go by false in the suspension of its binding, which goes before the policy',
    }),
  ),
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
  preemption: Type.Optional(
    Type.Enum(['Always', 'Never'], {
      description:
        'Always: takes over templates that another policy has placed: one of lower priority, or a ClusterPropagationPolicy if this is a PropagationPolicy. Never (the default): a template stays with its policy as long as that selects it',
    }),
  ),
  activationPreference: Type.Optional(
    Type.Enum(['Lazy'], {
      description:
        'Lazy: what the policy says from now on holds for a template from its next change on; default: at once',
    }),
  ),
  suspension: Type.Optional(Suspension),
  propagateDeps: Type.Optional(
    Type.Boolean({
      description:
        'What a workload names (ConfigMaps, Secrets, volume claims, service accounts with their image pull secrets) goes with it',
    }),
  ),
  dependentOverrides: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      description:
        'Names of override policies without which nothing is decided: OverridePolicies of its namespace, of a ClusterPropagationPolicy ClusterOverridePolicies. What is placed stays while one is missing',
    }),
  ),
  placement: Type.Optional(Placement),
  conflictResolution: Type.Optional(ConflictResolution),
  preserveResourcesOnDeletion: Type.Optional(
    Type.Boolean({
      description:
        'Objects stay in the members, and are managed no more, wherever they would be removed: when the template or the policy is deleted, when the policy selects the template no more, and in a cluster that is chosen no more',
    }),
  ),
});

export const ClusterPropagationPolicySpec = Type.Object({
  ...PropagationPolicySpec.properties,
  allowNamespaceOverrides: Type.Optional(
    Type.Boolean({
      description:
        'OverridePolicies of a namespace may change what this policy places there. Default: only ClusterOverridePolicies may. Access control, quotas, limits and network policies never change',
    }),
  ),
});

/** Only of a policy with a selector that selects nothing, and of one that had such. */
export const PropagationPolicyStatus = Type.Object({
  observedGeneration: Type.Optional(Type.Integer({ format: 'int64' })),
  conditions: Type.Optional(Conditions),
});
