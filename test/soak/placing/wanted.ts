import { API_VERSION, type OverridePolicy, type Placement, type PropagationPolicy } from '@asterism/fleet/api';
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  JOBS,
  type KubeObject,
  type ResourceType,
  SECRETS,
  SERVICES,
  STATEFUL_SETS,
} from '@asterism/machinery';

/** The ways to place there are: a template says by its label `lane` which one is its. */
export const LANES = ['everywhere', 'some', 'weighted', 'room', 'together'] as const;
export type Lane = (typeof LANES)[number];

export const KINDS = {
  Deployment: 'apps/v1',
  StatefulSet: 'apps/v1',
  Job: 'batch/v1',
  Service: 'v1',
  ConfigMap: 'v1',
} as const;
export type Kind = keyof typeof KINDS;

/** What stands in hub and members: workloads, and what they take along. */
export const RESOURCES = [CONFIG_MAPS, DEPLOYMENTS, JOBS, SECRETS, SERVICES, STATEFUL_SETS] as readonly ResourceType[];

/** A workload as its user wants it. */
export interface Workload {
  kind: Kind;
  namespace: string;
  name: string;
  lane: Lane;
  replicas: number;
  /** Of the image, of the data, of a port. */
  version: number;
  /** A label's value. */
  note: number;
  /** Of a ConfigMap that it needs, if it needs one. */
  settings: number | undefined;
  /** It needs the Secret that its namespace shares. */
  secret: boolean;
}

/** Where the templates of a namespace's lane go. */
export interface LanePolicy {
  namespace: string;
  lane: Lane;
  /** For `some` and `together`. */
  clusters: readonly string[];
  /** For `weighted`: of each cluster. */
  weights: Readonly<Record<string, number>>;
  /** It is there: without it nothing of the lane stands anywhere. */
  present: boolean;
}

/** What differs in the clusters of one region. */
export interface RegionOverride {
  namespace: string;
  region: string;
  registry: string;
}

export const hasPods = ({ kind }: Pick<Workload, 'kind'>): boolean => kind !== 'ConfigMap' && kind !== 'Service';

export const SHARED_SECRET = 'registry-login';
export const settingsName = (workload: Pick<Workload, 'name'>): string => `${workload.name}-settings`;

export const IMAGE_REGISTRY = 'registry.example';
const imageOf = ({ kind, version }: Workload): string =>
  kind === 'Job' ? 'busybox:1.36' : `${IMAGE_REGISTRY}/app:1.${version}`;

/** The template of a workload. */
export function templateOf(workload: Workload): KubeObject {
  const { kind, namespace, name, lane, note } = workload;
  const labels = { app: name, lane, note: `n${note}` };
  return {
    apiVersion: KINDS[kind],
    kind,
    metadata: { namespace, name, labels },
    ...contentOf(workload),
  };
}

function contentOf(workload: Workload): Record<string, unknown> {
  const { kind, name, replicas, version } = workload;
  const selector = { matchLabels: { app: name } };
  const template = { metadata: { labels: { app: name } }, spec: podSpecOf(workload) };
  switch (kind) {
    case 'ConfigMap':
      return { data: { version: `${version}` } };
    case 'Service':
      return { spec: { selector: { app: name }, ports: [{ name: 'http', port: 80 + version, protocol: 'TCP' }] } };
    case 'Job':
      return { spec: { parallelism: replicas, completions: replicas, template } };
    case 'StatefulSet':
      return { spec: { replicas, serviceName: name, podManagementPolicy: 'Parallel', selector, template } };
    case 'Deployment':
      return { spec: { replicas, selector, template } };
  }
}

function podSpecOf(workload: Workload): Record<string, unknown> {
  const { kind, secret, settings } = workload;
  const main = { name: 'main', image: imageOf(workload) };
  const container = kind === 'Job' ? { ...main, command: ['true'] } : main;
  return {
    terminationGracePeriodSeconds: 0,
    ...(kind === 'Job' ? { restartPolicy: 'Never' } : {}),
    ...(secret ? { imagePullSecrets: [{ name: SHARED_SECRET }] } : {}),
    containers: [
      settings === undefined
        ? container
        : { ...container, envFrom: [{ configMapRef: { name: settingsName(workload) } }] },
    ],
  };
}

/** The ConfigMap that a workload needs: no policy selects it. */
export function settingsOf(workload: Workload): KubeObject {
  const { namespace, settings } = workload;
  const metadata = { namespace, name: settingsName(workload), labels: { part: 'settings' } };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { round: `${settings}` } };
}

export function sharedSecretOf(namespace: string): KubeObject {
  const metadata = { namespace, name: SHARED_SECRET, labels: { part: 'shared' } };
  return { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata, data: { token: 'bm90IGEgc2VjcmV0' } };
}

export function policyOf(policy: LanePolicy): PropagationPolicy {
  const { namespace, lane } = policy;
  const labelSelector = { matchLabels: { lane } };
  return {
    apiVersion: API_VERSION,
    kind: 'PropagationPolicy',
    metadata: { namespace, name: lane },
    spec: {
      resourceSelectors: Object.entries(KINDS).map(([kind, apiVersion]) => ({ apiVersion, kind, labelSelector })),
      propagateDeps: true,
      placement: placementOf(policy),
    },
  };
}

function placementOf({ lane, clusters, weights }: LanePolicy): Placement {
  const clusterAffinity = { clusterNames: [...clusters] };
  switch (lane) {
    case 'everywhere':
      return {};
    case 'some':
      return { clusterAffinity, replicaScheduling: { replicaSchedulingType: 'Duplicated' } };
    case 'weighted': {
      const staticWeightList = Object.entries(weights).map(([name, weight]) => ({
        targetCluster: { clusterNames: [name] },
        weight,
      }));
      return divided({ replicaDivisionPreference: 'Weighted', weightPreference: { staticWeightList } });
    }
    case 'room':
      return divided({
        replicaDivisionPreference: 'Weighted',
        weightPreference: { dynamicWeight: 'AvailableReplicas' },
      });
    case 'together':
      return { clusterAffinity, ...divided({ replicaDivisionPreference: 'Aggregated' }) };
  }
}

function divided(scheduling: NonNullable<Placement['replicaScheduling']>): Placement {
  return { replicaScheduling: { replicaSchedulingType: 'Divided', ...scheduling } };
}

/** In the clusters of a region images come from another registry, and a label says where the object stands. */
export function overrideOf({ namespace, region, registry }: RegionOverride): OverridePolicy {
  const targetCluster = { labelSelector: { matchLabels: { region } } };
  const all = { targetCluster, overriders: { labelsOverrider: [{ operator: 'add' as const, value: { region } }] } };
  return {
    apiVersion: API_VERSION,
    kind: 'OverridePolicy',
    metadata: { namespace, name: 'region' },
    spec: {
      resourceSelectors: (['Deployment', 'StatefulSet'] as const).map((kind) => ({ apiVersion: KINDS[kind], kind })),
      overrideRules: [
        all,
        {
          targetCluster,
          overriders: { imageOverrider: [{ component: 'Registry', operator: 'replace', value: registry }] },
        },
      ],
    },
  };
}
