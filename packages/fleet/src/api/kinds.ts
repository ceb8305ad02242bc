import type { KubeObject, ObjectMeta, ResourceType } from '@asterism/machinery';
import type { Static } from 'typebox';
import type { ClusterRegistrationSpec, ClusterRegistrationStatus } from './schema/cluster-registration.ts';
import type { ClusterSpec, ClusterStatus } from './schema/cluster.ts';
import type { HubConfigurationSpec, HubConfigurationStatus } from './schema/hub-configuration.ts';
import type { OverridePolicySpec, Overriders } from './schema/override-policy.ts';
import type { ClusterAffinity, ObjectReference, ResourceSelector, Taint, Toleration } from './schema/parts.ts';
import type {
  ClusterPropagationPolicySpec,
  Placement,
  PropagationPolicySpec,
  PropagationPolicyStatus,
} from './schema/propagation-policy.ts';
import type {
  AggregatedStatusItem,
  Decision,
  ResourceBindingSpec,
  ResourceBindingStatus,
  TargetCluster,
  UnappliedOverride,
} from './schema/resource-binding.ts';
import type { ManifestStatus, WorkSpec, WorkStatus } from './schema/work.ts';

/** The kinds of `asterism.dev/v1alpha1`. Only types come from the schemas: TypeBox itself is loaded by the generator alone. */

export const GROUP = 'asterism.dev';
export const VERSION = 'v1alpha1';
export const API_VERSION = 'asterism.dev/v1alpha1';

interface Kind<K extends string, Spec, Status> extends KubeObject {
  apiVersion: typeof API_VERSION;
  kind: K;
  metadata: ObjectMeta;
  spec: Spec;
  status?: Status;
}

export type Cluster = Kind<'Cluster', Static<typeof ClusterSpec>, Static<typeof ClusterStatus>>;
export type ClusterRegistration = Kind<
  'ClusterRegistration',
  Static<typeof ClusterRegistrationSpec>,
  Static<typeof ClusterRegistrationStatus>
>;
export type PropagationPolicy = Kind<
  'PropagationPolicy',
  Static<typeof PropagationPolicySpec>,
  Static<typeof PropagationPolicyStatus>
>;
export type ClusterPropagationPolicy = Kind<
  'ClusterPropagationPolicy',
  Static<typeof ClusterPropagationPolicySpec>,
  Static<typeof PropagationPolicyStatus>
>;
export type OverridePolicy = Kind<'OverridePolicy', Static<typeof OverridePolicySpec>, never>;
export type ClusterOverridePolicy = Kind<'ClusterOverridePolicy', Static<typeof OverridePolicySpec>, never>;
export type ResourceBinding = Kind<
  'ResourceBinding',
  Static<typeof ResourceBindingSpec>,
  Static<typeof ResourceBindingStatus>
>;
export type ClusterResourceBinding = Kind<
  'ClusterResourceBinding',
  Static<typeof ResourceBindingSpec>,
  Static<typeof ResourceBindingStatus>
>;
export type HubConfiguration = Kind<
  'HubConfiguration',
  Static<typeof HubConfigurationSpec>,
  Static<typeof HubConfigurationStatus>
>;
export type Work = Kind<'Work', Static<typeof WorkSpec>, Static<typeof WorkStatus>>;

export type ClusterAffinity = Static<typeof ClusterAffinity>;
export type ResourceSelector = Static<typeof ResourceSelector>;
export type Taint = Static<typeof Taint>;
export type Toleration = Static<typeof Toleration>;
export type ObjectReference = Static<typeof ObjectReference>;
export type Placement = Static<typeof Placement>;
export type Overriders = Static<typeof Overriders>;
export type TargetCluster = Static<typeof TargetCluster>;
export type Decision = Static<typeof Decision>;
export type AggregatedStatusItem = Static<typeof AggregatedStatusItem>;
export type UnappliedOverride = Static<typeof UnappliedOverride>;
export type ManifestStatus = Static<typeof ManifestStatus>;

const kind = <T extends KubeObject>(name: string, resource: string, namespaced: boolean): ResourceType<T> => ({
  group: GROUP,
  version: VERSION,
  resource,
  kind: name,
  namespaced,
});

export const CLUSTERS = kind<Cluster>('Cluster', 'clusters', false);
export const CLUSTER_REGISTRATIONS = kind<ClusterRegistration>('ClusterRegistration', 'clusterregistrations', false);
export const PROPAGATION_POLICIES = kind<PropagationPolicy>('PropagationPolicy', 'propagationpolicies', true);
export const CLUSTER_PROPAGATION_POLICIES = kind<ClusterPropagationPolicy>(
  'ClusterPropagationPolicy',
  'clusterpropagationpolicies',
  false,
);
export const OVERRIDE_POLICIES = kind<OverridePolicy>('OverridePolicy', 'overridepolicies', true);
export const CLUSTER_OVERRIDE_POLICIES = kind<ClusterOverridePolicy>(
  'ClusterOverridePolicy',
  'clusteroverridepolicies',
  false,
);
export const RESOURCE_BINDINGS = kind<ResourceBinding>('ResourceBinding', 'resourcebindings', true);
export const CLUSTER_RESOURCE_BINDINGS = kind<ClusterResourceBinding>(
  'ClusterResourceBinding',
  'clusterresourcebindings',
  false,
);
export const HUB_CONFIGURATIONS = kind<HubConfiguration>('HubConfiguration', 'hubconfigurations', false);
export const WORKS = kind<Work>('Work', 'works', true);
