import { isJsonObject, type KubeObject, type ObjectMeta } from '@asterism/machinery';

/** Set by clients and controllers where the template lives: it says nothing about what shall stand in a member. */
const LOCAL_ANNOTATIONS: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'deployment.kubernetes.io/revision',
  'deployment.kubernetes.io/desired-replicas',
  'deployment.kubernetes.io/max-replicas',
  'deprecated.daemonset.template.generation',
  'volume.kubernetes.io/selected-node',
  'pv.kubernetes.io/bind-completed',
  'pv.kubernetes.io/bound-by-controller',
]);

const SPEC: ReadonlySet<string> = new Set(['spec']);
const SECRETS: ReadonlySet<string> = new Set(['secrets']);
const TOKEN_DATA: ReadonlySet<string> = new Set(['data']);
const ACCOUNT_UID: ReadonlySet<string> = new Set(['kubernetes.io/service-account.uid']);

const JOB_LABELS: ReadonlySet<string> = new Set([
  'controller-uid',
  'job-name',
  'batch.kubernetes.io/controller-uid',
  'batch.kubernetes.io/job-name',
]);

type Fields = Record<string, unknown>;

/**
 * What of a template goes to members: all but status, what an API server or a controller wrote into it here, and what only
 * the member can know (addresses, the selector of a Job).
 */
export function pruneTemplate(template: KubeObject): KubeObject {
  const { status: _, metadata = {}, ...rest } = template;
  const pruned: KubeObject = { ...rest, metadata: pruneMetadata(metadata) };
  const prune = PRUNERS.get(`${template.apiVersion} ${template.kind}`);
  return prune ? prune(pruned) : pruned;
}

function pruneMetadata({ name, namespace, labels, annotations }: ObjectMeta): ObjectMeta {
  const kept = annotations && without(annotations, LOCAL_ANNOTATIONS);
  return {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels && Object.keys(labels).length > 0 ? { labels } : {}),
    ...(kept && Object.keys(kept).length > 0 ? { annotations: kept } : {}),
  };
}

const PRUNERS: ReadonlyMap<string, (object: KubeObject) => KubeObject> = new Map([
  ['batch/v1 Job', pruneJob],
  ['v1 Service', pruneService],
  ['v1 Secret', pruneSecret],
  // The finalizer in a Namespace's spec is set and removed by each API server itself.
  ['v1 Namespace', (namespace: KubeObject) => without(namespace, SPEC)],
  // Tokens that were made for the account here are worth nothing there.
  ['v1 ServiceAccount', (account: KubeObject) => without(account, SECRETS)],
]);

/** A Job that is cleaned up in a member because it is done would be created again: cleaning up is the hub's. */
function pruneJob(job: KubeObject): KubeObject {
  const { ttlSecondsAfterFinished: _, selector, template, ...spec } = fieldsOf(job['spec']);
  const manual = spec['manualSelector'] === true;
  return {
    ...job,
    metadata: pruneJobLabels(job.metadata ?? {}),
    spec: {
      ...spec,
      ...(manual && selector !== undefined ? { selector } : {}),
      ...(isJsonObject(template)
        ? { template: { ...template, metadata: pruneJobLabels(fieldsOf(template['metadata'])) } }
        : {}),
    },
  };
}

function pruneJobLabels<M extends { labels?: unknown }>(metadata: M): M {
  return isJsonObject(metadata.labels) ? { ...metadata, labels: without(metadata.labels, JOB_LABELS) } : metadata;
}

/** Each member gives a Service its own address; a headless one keeps its `None`. */
function pruneService(service: KubeObject): KubeObject {
  const { clusterIP, clusterIPs, healthCheckNodePort: _, ...spec } = fieldsOf(service['spec']);
  return {
    ...service,
    spec: clusterIP === 'None' ? { ...spec, clusterIP, ...(clusterIPs ? { clusterIPs } : {}) } : spec,
  };
}

function pruneSecret(secret: KubeObject): KubeObject {
  if (secret['type'] !== 'kubernetes.io/service-account-token') return secret;
  const annotations = without(secret.metadata?.annotations ?? {}, ACCOUNT_UID);
  return { ...without(secret, TOKEN_DATA), metadata: { ...secret.metadata, annotations } };
}

function fieldsOf(value: unknown): Fields {
  return isJsonObject(value) ? value : {};
}

function without<T extends object>(map: T, keys: ReadonlySet<string>): T {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !keys.has(key))) as T;
}
