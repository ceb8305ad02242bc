import {
  CRON_JOBS,
  ENDPOINT_SLICES,
  type KubeObject,
  type ObjectMeta,
  POD_DISRUPTION_BUDGETS,
  type ResourceType,
} from '@asterism/machinery';

/** An object of the churn; `spec` and what else its kind has. */
export type ChurnObject = KubeObject & Record<string, unknown>;
export type Reference = { namespace: string; name: string };

/** Served by Kubernetes 1.20 in these versions alone; by ours still. */
export const OLD_CRON_JOBS: ResourceType = { ...CRON_JOBS, version: 'v1beta1' };
export const OLD_ENDPOINT_SLICES: ResourceType = { ...ENDPOINT_SLICES, version: 'v1beta1' };
export const OLD_BUDGETS: ResourceType = { ...POD_DISRUPTION_BUDGETS, version: 'v1beta1' };

/** Nodes whose kubelet comes and goes: pods that must not be lost with one keep away from them. */
export const UNSTEADY_NODES = ['node-dead', 'node-flapping'];

interface Template {
  app: string;
  image: string;
  restartPolicy?: 'Always' | 'Never';
  /** Not on a node that dies: what has ended there would be deleted or not, by chance. */
  steady?: boolean;
}

/** Of pods that go at once when they are deleted, and leave a node that is lost two seconds later. */
function template({ app, image, restartPolicy = 'Always', steady = false }: Template): object {
  const lost = ['node.kubernetes.io/unreachable', 'node.kubernetes.io/not-ready'];
  const hostname = { key: 'kubernetes.io/hostname', operator: 'NotIn', values: UNSTEADY_NODES };
  const required = { nodeSelectorTerms: [{ matchExpressions: [hostname] }] };
  return {
    metadata: { labels: { app } },
    spec: {
      containers: [{ name: 'main', image }],
      restartPolicy,
      terminationGracePeriodSeconds: 0,
      tolerations: lost.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 2 })),
      ...(steady ? { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } } : {}),
    },
  };
}

export function imageOf(version: number): string {
  return `registry.example/churn:${version}`;
}

function workload(app: string): object {
  return { selector: { matchLabels: { app } }, template: template({ app, image: imageOf(1) }) };
}

export function deployment(metadata: Reference, replicas: number): ChurnObject {
  return { metadata, spec: { replicas, ...workload(metadata.name) } };
}

/** With a claim for each pod, of the storage class named like the namespace. */
export function statefulSet(metadata: Reference, replicas: number): ChurnObject {
  const resources = { requests: { storage: '1Gi' } };
  const claim = { accessModes: ['ReadWriteOnce'], storageClassName: metadata.namespace, resources };
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: claim }];
  return { metadata, spec: { replicas, serviceName: metadata.name, ...workload(metadata.name), volumeClaimTemplates } };
}

/** One that rolls on though pods are lost with a node. */
export function daemonSet(metadata: Reference): ChurnObject {
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 3 } };
  return { metadata, spec: { ...workload(metadata.name), updateStrategy } };
}

function jobSpec(app: string, completions: number): object {
  const pods = template({ app, image: imageOf(1), restartPolicy: 'Never', steady: true });
  return { completions, parallelism: 2, template: pods };
}

export function job(metadata: Reference, completions: number): ChurnObject {
  return { metadata, spec: jobSpec(metadata.name, completions) };
}

/** Once a year, in the first minute. */
export function cronJob(metadata: Reference): ChurnObject {
  return { metadata, spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: jobSpec(metadata.name, 1) } } };
}

export function service(metadata: Reference, app: string, port: number): ChurnObject {
  return { metadata, spec: { selector: { app }, ports: [{ port, targetPort: 8080 }] } };
}

export function budget(metadata: Reference, app: string): ChurnObject {
  return { metadata, spec: { minAvailable: 1, selector: { matchLabels: { app } } } };
}

export function autoscaler(metadata: Reference): ChurnObject {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: metadata.name };
  return { metadata, spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 4, targetCPUUtilizationPercentage: 80 } };
}

export function volume(name: string, storageClassName: string): ChurnObject {
  const capacity = { storage: '1Gi' };
  const spec = { capacity, accessModes: ['ReadWriteOnce'], storageClassName, hostPath: { path: '/data' } };
  return { metadata: { name }, spec };
}

/** Nobody's, on one node, and for how long it stays there when the node is lost. */
export function pinnedPod(
  metadata: Reference,
  node: string,
  stay: { tolerationSeconds?: number; grace: number },
): ChurnObject {
  const toleration = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' };
  const { tolerationSeconds, grace } = stay;
  return {
    metadata,
    spec: {
      containers: [{ name: 'main', image: imageOf(1) }],
      nodeSelector: { 'kubernetes.io/hostname': node },
      terminationGracePeriodSeconds: grace,
      ...(tolerationSeconds === undefined ? {} : { tolerations: [{ ...toleration, tolerationSeconds }] }),
    },
  };
}

export function ownerReference(
  owner: KubeObject,
  more: object = {},
): NonNullable<ObjectMeta['ownerReferences']>[number] {
  const { name = '', uid = '' } = owner.metadata ?? {};
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid, ...more };
}
