import type { Client } from '@asterism/client';
import {
  CONFIG_MAPS,
  CONTROLLER_REVISIONS,
  DAEMON_SETS,
  DEPLOYMENTS,
  ENDPOINTS,
  HORIZONTAL_POD_AUTOSCALERS_V1,
  isJsonObject,
  JOBS,
  type KubeObject,
  NAMESPACES,
  NODES,
  type OwnerReference,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  REPLICA_SETS,
  type ResourceType,
  SECRETS,
  SERVICE_ACCOUNTS,
  SERVICES,
  STATEFUL_SETS,
} from '@asterism/machinery';
import { OLD_BUDGETS, OLD_CRON_JOBS, OLD_ENDPOINT_SLICES } from './churn-objects.ts';

type Fields = Record<string, unknown>;
/** What counts of an object of one kind, besides {@link commonFacts}. */
type FactsOf = (object: Fields) => unknown;

const KINDS: readonly [ResourceType, FactsOf][] = [
  [NODES, (object) => [at(object, 'spec.unschedulable'), taintsOf(object), conditionsOf(object)]],
  [NAMESPACES, (object) => at(object, 'status.phase')],
  [PODS, podFacts],
  [DEPLOYMENTS, workloadFacts],
  [REPLICA_SETS, workloadFacts],
  [STATEFUL_SETS, workloadFacts],
  [DAEMON_SETS, workloadFacts],
  [CONTROLLER_REVISIONS, () => undefined],
  [JOBS, (object) => [counts(object, ['active', 'succeeded', 'failed']), conditionsOf(object)]],
  [OLD_CRON_JOBS, (object) => listAt(object, 'status.active').length],
  [
    SERVICES,
    (object) => [at(object, 'spec.selector'), at(object, 'spec.ports.0.port'), Boolean(at(object, 'spec.clusterIP'))],
  ],
  [ENDPOINTS, (object) => listAt(object, 'subsets').map(subsetFacts)],
  [OLD_ENDPOINT_SLICES, sliceFacts],
  [CONFIG_MAPS, (object) => Object.keys((object['data'] as Fields | undefined) ?? {})],
  [SECRETS, (object) => [object['type'], Object.keys((object['data'] as Fields | undefined) ?? {}).sort()]],
  [SERVICE_ACCOUNTS, (object) => listAt(object, 'secrets').length],
  [PERSISTENT_VOLUME_CLAIMS, (object) => at(object, 'status.phase')],
  // Which of a class's volumes a claim gets is drawn by lot.
  [PERSISTENT_VOLUMES, (object) => [at(object, 'spec.storageClassName'), at(object, 'status.phase')]],
  [OLD_BUDGETS, (object) => counts(object, ['currentHealthy', 'desiredHealthy', 'disruptionsAllowed', 'expectedPods'])],
  [HORIZONTAL_POD_AUTOSCALERS_V1, autoscalerFacts],
];

/** One line for each object of the churn that counts: equal clusters give equal lists, in the same order. */
export async function readClusterFacts(client: Client): Promise<string[]> {
  const lines = await Promise.all(
    KINDS.map(async ([type, factsOf]) => {
      const { items } = await client.resource<KubeObject>(type).list();
      return items.filter(isOfChurn).map((object) => {
        const facts = { ...commonFacts(object, type), facts: factsOf(object as unknown as Fields) };
        return `${type.kind} ${JSON.stringify(facts)}`;
      });
    }),
  );
  return lines.flat().sort();
}

/** All but the server's own and the controllers' own. */
function isOfChurn({ metadata }: KubeObject): boolean {
  const place = metadata?.namespace ?? metadata?.name ?? '';
  return /^(?:churn|passing|node)-/.test(place);
}

function commonFacts({ metadata = {} }: KubeObject, type: ResourceType): object {
  const { namespace, name = '', generateName, ownerReferences = [], finalizers = [], deletionTimestamp } = metadata;
  const isVolume = type.resource === PERSISTENT_VOLUMES.resource;
  return {
    name: isVolume
      ? ''
      : `${namespace ?? ''}/${generateName === undefined ? withoutChance(name) : `${generateName}<>`}`,
    labels: isVolume ? {} : labelsOf(metadata.labels ?? {}),
    owners: ownerReferences.map(ownerFacts).sort(),
    finalizers: [...finalizers].sort(),
    deleted: deletionTimestamp !== undefined,
  };
}

/** The five characters that the controllers add to the names of Secrets. */
function withoutChance(name: string): string {
  return name.replace(/-token-[a-z0-9]{5}$/, '-token-<>');
}

/** Without those that newer versions add, and uids. */
function labelsOf(labels: Record<string, string>): Fields {
  const kept = Object.entries(labels).filter(
    ([key]) => !key.startsWith('batch.kubernetes.io/') && key !== 'kubernetes.io/metadata.name',
  );
  return Object.fromEntries(
    kept
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([key, value]) => [key, key === 'controller-uid' ? '<uid>' : value]),
  );
}

function ownerFacts({ kind, name, controller = false, blockOwnerDeletion = false }: OwnerReference): string {
  return `${kind} ${name}${controller ? ' controls' : ''}${blockOwnerDeletion ? ' blocks' : ''}`;
}

function workloadFacts(object: Fields): unknown {
  const hasGeneration = at(object, 'metadata.generation') === at(object, 'status.observedGeneration');
  const revision = annotationOf(object, 'deployment.kubernetes.io/revision');
  return [at(object, 'spec.replicas'), counts(object, WORKLOAD_COUNTS), conditionsOf(object), hasGeneration, revision];
}

const WORKLOAD_COUNTS = [
  'replicas',
  'readyReplicas',
  'updatedReplicas',
  'unavailableReplicas',
  'currentNumberScheduled',
  'desiredNumberScheduled',
  'numberMisscheduled',
  'numberReady',
  'numberUnavailable',
  'updatedNumberScheduled',
];

function podFacts(object: Fields): unknown {
  const image = at(object, 'spec.containers.0.image');
  return [at(object, 'status.phase'), conditionsOf(object), Boolean(at(object, 'spec.nodeName')), image];
}

function subsetFacts(subset: unknown): unknown {
  const [ready, notReady] = ['addresses', 'notReadyAddresses'].map((key) => listAt(subset, key).length);
  return { ready, notReady, ports: listAt(subset, 'ports').map((port) => at(port, 'port')) };
}

function sliceFacts(object: Fields): unknown {
  const endpoints = listAt(object, 'endpoints').map((endpoint) => at(endpoint, 'conditions.ready') === true);
  const ready = endpoints.filter(Boolean).length;
  return [
    object['addressType'],
    ready,
    endpoints.length - ready,
    listAt(object, 'ports').map((port) => at(port, 'port')),
  ];
}

/** Of v1, which tells conditions in an annotation. */
function autoscalerFacts(object: Fields): unknown {
  const text = annotationOf(object, 'autoscaling.alpha.kubernetes.io/conditions');
  const conditions: unknown = JSON.parse(typeof text === 'string' ? text : '[]');
  return [
    at(object, 'spec.maxReplicas'),
    at(object, 'status.currentReplicas'),
    conditionsOf({ status: { conditions } }),
  ];
}

function taintsOf(object: Fields): string[] {
  return listAt(object, 'spec.taints')
    .map((taint) => `${String(at(taint, 'key'))}:${String(at(taint, 'effect'))}`)
    .sort();
}

/** `SuccessCriteriaMet` is of 1.31; the test says it of Jobs, and the controller of 1.20 now and then takes it away. */
function conditionsOf(object: Fields): string[] {
  return listAt(object, 'status.conditions')
    .map((condition) => `${String(at(condition, 'type'))}=${String(at(condition, 'status'))}`)
    .filter((condition) => !condition.startsWith('SuccessCriteriaMet='))
    .sort();
}

/** Zero, where a count is not told. */
function counts(object: Fields, keys: readonly string[]): Record<string, number> {
  return Object.fromEntries(keys.map((key) => [key, Number(at(object, `status.${key}`) ?? 0)]));
}

function listAt(value: unknown, path: string): unknown[] {
  const found = at(value, path);
  return Array.isArray(found) ? found : [];
}

function annotationOf(object: Fields, key: string): unknown {
  const annotations = at(object, 'metadata.annotations');
  return isJsonObject(annotations) ? annotations[key] : undefined;
}

/** What is at a path of keys with dots between them. */
function at(value: unknown, path: string): unknown {
  let found = value;
  for (const key of path.split('.')) {
    if (Array.isArray(found)) found = found[Number(key)];
    else found = isJsonObject(found) ? found[key] : undefined;
  }
  return found;
}
