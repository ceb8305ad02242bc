import type { ApiExtension, ApiResponse, ExtensionContext } from '@asterism/apiserver';
import {
  failure,
  formatTime,
  type KubeObject,
  matchesFields,
  matchesLabels,
  type Node,
  notFound,
  parseFieldSelector,
  parseLabelSelector,
  type Pod,
} from '@asterism/machinery';
import type { ContainerUsage } from '../machine/container-runtime.ts';

const METRICS_GROUP = 'metrics.k8s.io';
const VERSION = 'v1beta1';
const API_VERSION = `${METRICS_GROUP}/${VERSION}`;
const WINDOW = '15s';
/** What a node uses besides its containers: its kubelet and the system. */
const SYSTEM = { cpuNanoCores: 60_000_000, memoryBytes: 450 * 1024 * 1024 };

/** Who may read objects may read the figures, as metrics-server sets it up. */
export const METRICS_READER: KubeObject = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: {
    name: 'system:aggregated-metrics-reader',
    labels: Object.fromEntries(
      ['view', 'edit', 'admin'].map((role) => [`rbac.authorization.k8s.io/aggregate-to-${role}`, 'true']),
    ),
  },
  rules: [{ apiGroups: [METRICS_GROUP], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] }],
};

/** Where the figures come from. */
export interface MetricsSource {
  nodes(): readonly Node[];
  pods(): readonly Pod[];
  /** Of all containers that run. */
  stats(): readonly ContainerUsage[];
  /** A node of which nothing is heard has no figures. */
  isHeard(node: string): boolean;
  now(): number;
}

/** `metrics.k8s.io`: what nodes and pods use at this moment, for `kubectl top` and autoscalers. */
export function metricsExtension(source: () => MetricsSource | undefined): ApiExtension {
  const resource = (kind: 'NodeMetrics' | 'PodMetrics') => ({
    resource: kind === 'NodeMetrics' ? 'nodes' : 'pods',
    singular: '',
    kind,
    namespaced: kind === 'PodMetrics',
    verbs: ['get', 'list'],
    authorization: 'rbac' as const,
    handle: (context: ExtensionContext): Promise<ApiResponse> => answer(kind, context, source()),
  });
  return { group: METRICS_GROUP, version: VERSION, resources: [resource('NodeMetrics'), resource('PodMetrics')] };
}

async function answer(
  kind: 'NodeMetrics' | 'PodMetrics',
  context: ExtensionContext,
  source: MetricsSource | undefined,
): Promise<ApiResponse> {
  if (context.verb !== 'get' && context.verb !== 'list')
    throw failure(405, 'the server does not allow this method on the requested resource');
  if (!source) throw failure(503, 'no metrics are known yet');
  const all = kind === 'NodeMetrics' ? nodeMetrics(source) : podMetrics(source, context.namespace);
  if (context.name !== undefined) {
    const found = all.find(({ metadata }) => metadata?.name === context.name);
    if (!found) throw notFound({ group: METRICS_GROUP, resource: context.resource }, context.name);
    return json({ kind, apiVersion: API_VERSION, ...found });
  }
  const { query } = context.request;
  const labels = parseLabelSelector(query.get('labelSelector') ?? '');
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '');
  const items = all.filter(({ metadata }) => {
    const { name = '', namespace = '' } = metadata ?? {};
    const own: Record<string, string> = { 'metadata.name': name, 'metadata.namespace': namespace };
    return matchesLabels(labels, metadata?.labels ?? {}) && matchesFields(fields, (path) => own[path]);
  });
  return json({ kind: `${kind}List`, apiVersion: API_VERSION, metadata: {}, items });
}

function json(value: object): ApiResponse {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(value)) };
}

function nodeMetrics(source: MetricsSource): KubeObject[] {
  const nodeOf = new Map(
    source.pods().map(({ metadata, spec }) => [`${metadata?.namespace}/${metadata?.name}`, spec?.nodeName]),
  );
  const sums = new Map<string, { cpuNanoCores: number; memoryBytes: number }>();
  for (const { ref, cpuNanoCores, memoryBytes } of source.stats()) {
    const node = nodeOf.get(`${ref.namespace}/${ref.pod}`) ?? '';
    const sum = sums.get(node) ?? { ...SYSTEM };
    sum.cpuNanoCores += cpuNanoCores;
    sum.memoryBytes += memoryBytes;
    sums.set(node, sum);
  }
  const heard = source.nodes().filter(({ metadata }) => source.isHeard(metadata?.name ?? ''));
  return heard.map(({ metadata }) => ({
    metadata: metadataOf(metadata, source.now()),
    ...times(source.now()),
    usage: usageOf(sums.get(metadata?.name ?? '') ?? SYSTEM),
  }));
}

function podMetrics(source: MetricsSource, namespace: string | undefined): KubeObject[] {
  const byPod = new Map<string, ContainerUsage[]>();
  for (const usage of source.stats()) {
    if (namespace !== undefined && namespace !== '' && usage.ref.namespace !== namespace) continue;
    const key = `${usage.ref.namespace}/${usage.ref.pod}`;
    const list = byPod.get(key);
    if (list) list.push(usage);
    else byPod.set(key, [usage]);
  }
  return source.pods().flatMap(({ metadata, spec }) => {
    const usages = byPod.get(`${metadata?.namespace}/${metadata?.name}`);
    if (!usages || !source.isHeard(spec?.nodeName ?? '')) return [];
    const containers = usages.map((usage) => ({ name: usage.ref.container, usage: usageOf(usage) }));
    return [{ metadata: metadataOf(metadata, source.now()), ...times(source.now()), containers }];
  });
}

function metadataOf(metadata: KubeObject['metadata'], now: number): NonNullable<KubeObject['metadata']> {
  const { name, namespace, labels } = metadata ?? {};
  return {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels === undefined ? {} : { labels }),
    creationTimestamp: formatTime(now),
  };
}

function times(now: number): { timestamp: string; window: string } {
  return { timestamp: formatTime(now), window: WINDOW };
}

function usageOf({ cpuNanoCores, memoryBytes }: { cpuNanoCores: number; memoryBytes: number }): Record<string, string> {
  return { cpu: `${Math.round(cpuNanoCores)}n`, memory: `${Math.round(memoryBytes / 1024)}Ki` };
}
