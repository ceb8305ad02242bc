import type { TSchema } from 'typebox';
import { GROUP, VERSION } from '../src/api/kinds.ts';
import { ClusterRegistrationSpec, ClusterRegistrationStatus } from '../src/api/schema/cluster-registration.ts';
import { ClusterSpec, ClusterStatus } from '../src/api/schema/cluster.ts';
import { HubConfigurationSpec, HubConfigurationStatus } from '../src/api/schema/hub-configuration.ts';
import { OverridePolicySpec } from '../src/api/schema/override-policy.ts';
import {
  ClusterPropagationPolicySpec,
  PropagationPolicySpec,
  PropagationPolicyStatus,
} from '../src/api/schema/propagation-policy.ts';
import { ResourceBindingSpec, ResourceBindingStatus } from '../src/api/schema/resource-binding.ts';
import { WorkSpec, WorkStatus } from '../src/api/schema/work.ts';
import { structural } from './structural.ts';

interface Column {
  name: string;
  jsonPath: string;
  type?: 'string' | 'integer' | 'boolean' | 'date';
  priority?: number;
  description?: string;
}

interface Definition {
  kind: string;
  plural: string;
  shortNames: string[];
  scope: 'Cluster' | 'Namespaced';
  spec: TSchema;
  status?: TSchema;
  columns: Column[];
}

const condition = (type: string, field = 'status') => `.status.conditions[?(@.type=="${type}")].${field}`;

const bindingColumns: Column[] = [
  { name: 'Kind', jsonPath: '.spec.resource.kind' },
  { name: 'Placed', jsonPath: '.status.placed' },
  { name: 'Scheduled', jsonPath: condition('Scheduled') },
  { name: 'Applied', jsonPath: condition('FullyApplied') },
  { name: 'Message', jsonPath: condition('Scheduled', 'message'), priority: 1 },
  { name: 'Delivery', jsonPath: condition('FullyApplied', 'message'), priority: 1, description: 'Where it is applied' },
];

const policyColumns: Column[] = [
  { name: 'Replicas', jsonPath: '.spec.placement.replicaScheduling.replicaSchedulingType' },
  { name: 'Priority', jsonPath: '.spec.priority', type: 'integer' },
  { name: 'Suspended', jsonPath: '.spec.suspension.dispatching', type: 'boolean', priority: 1 },
  {
    name: 'Message',
    jsonPath: '.status.conditions[?(@.status=="False")].message',
    priority: 1,
    description: 'Which of its selectors select nothing, and why',
  },
];

const definitions: Definition[] = [
  {
    kind: 'Cluster',
    plural: 'clusters',
    shortNames: ['cl'],
    scope: 'Cluster',
    spec: ClusterSpec,
    status: ClusterStatus,
    columns: [
      { name: 'Ready', jsonPath: condition('Ready') },
      { name: 'Reason', jsonPath: condition('Ready', 'reason'), description: 'Why it is ready, or not' },
      { name: 'Mode', jsonPath: '.spec.syncMode' },
      { name: 'Version', jsonPath: '.status.kubernetesVersion' },
      { name: 'Nodes', jsonPath: '.status.glance.nodes', description: 'Nodes that are ready, of all' },
      { name: 'Free CPU', jsonPath: '.status.glance.freeCPU', description: 'Cores on the nodes that work can go to' },
      { name: 'Free memory', jsonPath: '.status.glance.freeMemory', description: 'Likewise' },
      { name: 'Connection', jsonPath: '.spec.connection.type', priority: 1 },
      { name: 'Region', jsonPath: '.spec.region', priority: 1 },
      { name: 'Zones', jsonPath: '.spec.zones', priority: 1 },
      {
        name: 'Permissions',
        jsonPath: '.status.permissions.profile',
        priority: 1,
        description: 'Profile of the account by which Asterism writes to the cluster',
      },
      { name: 'Message', jsonPath: condition('Ready', 'message'), priority: 1 },
    ],
  },
  {
    kind: 'ClusterRegistration',
    plural: 'clusterregistrations',
    shortNames: ['clreg'],
    scope: 'Cluster',
    spec: ClusterRegistrationSpec,
    status: ClusterRegistrationStatus,
    columns: [
      { name: 'Cluster', jsonPath: '.spec.clusterName' },
      { name: 'Mode', jsonPath: '.spec.syncMode' },
      { name: 'Decision', jsonPath: '.status.decision' },
      { name: 'Reason', jsonPath: condition('Complete', 'reason') },
      { name: 'By', jsonPath: '.status.decidedBy' },
      { name: 'Message', jsonPath: '.status.message', priority: 1 },
      { name: 'Key', jsonPath: '.status.publicKeyHash', priority: 1 },
    ],
  },
  {
    kind: 'HubConfiguration',
    plural: 'hubconfigurations',
    shortNames: ['hubconf'],
    scope: 'Cluster',
    spec: HubConfigurationSpec,
    status: HubConfigurationStatus,
    columns: [
      { name: 'Valid', jsonPath: condition('Valid') },
      { name: 'Message', jsonPath: condition('Valid', 'message'), priority: 1 },
    ],
  },
  {
    kind: 'PropagationPolicy',
    plural: 'propagationpolicies',
    shortNames: ['pp'],
    scope: 'Namespaced',
    spec: PropagationPolicySpec,
    status: PropagationPolicyStatus,
    columns: policyColumns,
  },
  {
    kind: 'ClusterPropagationPolicy',
    plural: 'clusterpropagationpolicies',
    shortNames: ['cpp'],
    scope: 'Cluster',
    spec: ClusterPropagationPolicySpec,
    status: PropagationPolicyStatus,
    columns: policyColumns,
  },
  {
    kind: 'OverridePolicy',
    plural: 'overridepolicies',
    shortNames: ['op'],
    scope: 'Namespaced',
    spec: OverridePolicySpec,
    columns: [],
  },
  {
    kind: 'ClusterOverridePolicy',
    plural: 'clusteroverridepolicies',
    shortNames: ['cop'],
    scope: 'Cluster',
    spec: OverridePolicySpec,
    columns: [],
  },
  {
    kind: 'ResourceBinding',
    plural: 'resourcebindings',
    shortNames: ['rb'],
    scope: 'Namespaced',
    spec: ResourceBindingSpec,
    status: ResourceBindingStatus,
    columns: bindingColumns,
  },
  {
    kind: 'ClusterResourceBinding',
    plural: 'clusterresourcebindings',
    shortNames: ['crb'],
    scope: 'Cluster',
    spec: ResourceBindingSpec,
    status: ResourceBindingStatus,
    columns: bindingColumns,
  },
  {
    kind: 'Work',
    plural: 'works',
    shortNames: ['wk'],
    scope: 'Namespaced',
    spec: WorkSpec,
    status: WorkStatus,
    columns: [
      { name: 'Kind', jsonPath: '.spec.manifests[0].kind' },
      { name: 'Object', jsonPath: '.spec.manifests[0].metadata.name' },
      { name: 'Applied', jsonPath: condition('Applied') },
      { name: 'Suspended', jsonPath: '.spec.suspendDispatching', type: 'boolean', priority: 1 },
      { name: 'Message', jsonPath: condition('Applied', 'message'), priority: 1 },
    ],
  },
];

function versionOf({ spec, status, columns }: Definition) {
  return {
    name: VERSION,
    served: true,
    storage: true,
    ...(status ? { subresources: { status: {} } } : {}),
    additionalPrinterColumns: [
      ...columns.map((column) => ({ type: 'string', ...column })),
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
    schema: {
      openAPIV3Schema: {
        type: 'object',
        required: ['spec'],
        properties: {
          apiVersion: { type: 'string' },
          kind: { type: 'string' },
          metadata: { type: 'object' },
          spec: structural(spec),
          ...(status ? { status: structural(status) } : {}),
        },
      },
    },
  };
}

/** The CustomResourceDefinitions of `asterism.dev`, as they are applied. */
export function customResourceDefinitions() {
  return definitions.map((definition) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${definition.plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: definition.scope,
      names: {
        kind: definition.kind,
        listKind: `${definition.kind}List`,
        plural: definition.plural,
        singular: definition.kind.toLowerCase(),
        shortNames: definition.shortNames,
        categories: ['asterism'],
      },
      versions: [versionOf(definition)],
    },
  }));
}
