import { wallNow } from '@asterism/client';
import type { Client, DiscoveredResource } from '@asterism/client';
import {
  API_VERSION,
  type Cluster,
  CLUSTERS,
  clusterNamespace,
  HEARTBEAT_LEASE,
  RESOURCE_BINDINGS,
  type ResourceBinding,
} from '@asterism/fleet/api';
import { EVENTS, type Event, formatAge, isStatusError, type KubeObject, LEASES } from '@asterism/machinery';
import { resolveClusters } from '../clusters-flag.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import { formatColumns } from '../output/columns.ts';
import { formatTree } from '../output/tree.ts';
import type { Terminal } from '../output/terminal.ts';
import { parseResourceArgument } from '../resource-argument.ts';
import { openSession, type SessionFlags } from '../session.ts';
import { describeCluster } from './describe-cluster.ts';

export interface DescribeFlags extends SessionFlags {
  clusters?: string;
}

/** `aster describe`: everything about an object, where it was placed and what became of it there, and its events. */
export async function describe(words: readonly string[], flags: DescribeFlags, terminal: Terminal): Promise<number> {
  await using session = await openSession(flags, terminal);
  const clusters = flags.clusters === undefined ? [undefined] : await resolveClusters(flags.clusters, session.hub);
  const sections: string[] = [];
  for (const cluster of clusters) {
    const client = cluster === undefined ? session.hub : session.member(cluster);
    const { resource, names } = await parseResourceArgument(words, client);
    if (names.length === 0) throw new CommandError(`which of the ${resource.resource}?`, EXIT.usage);
    const namespace = resource.namespaced ? session.namespace : undefined;
    for (const name of names) {
      const object = await client.resource(resource).get({ namespace, name });
      if (cluster === undefined && isCluster(object)) {
        sections.push((await describeClusterIn(client, object)) + (await eventsOf(client, object)));
        continue;
      }
      const where = cluster === undefined ? '' : `Cluster:      ${cluster}\n`;
      sections.push(where + (await describeObject(client, resource, object, cluster === undefined)));
    }
  }
  terminal.out(sections.join('\n\n'));
  return EXIT.fine;
}

function isCluster(object: KubeObject): object is Cluster {
  return object.apiVersion === API_VERSION && object.kind === CLUSTERS.kind;
}

/** With its heartbeat, where that may be read. */
async function describeClusterIn(client: Client, cluster: Cluster): Promise<string> {
  const ref = { namespace: clusterNamespace(cluster.metadata.name ?? ''), name: HEARTBEAT_LEASE };
  const lease = await client
    .resource(LEASES)
    .get(ref)
    .catch((error: unknown) => {
      if (isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')) return undefined;
      throw error;
    });
  return describeCluster(cluster, lease?.spec?.renewTime, wallNow());
}

async function describeObject(
  client: Client,
  resource: DiscoveredResource,
  object: KubeObject,
  inHub: boolean,
): Promise<string> {
  const { metadata = {}, apiVersion, kind, ...rest } = object;
  const head: Record<string, unknown> = {
    name: metadata.name,
    ...(metadata.namespace ? { namespace: metadata.namespace } : {}),
    kind: `${kind} (${apiVersion})`,
    labels: metadata.labels ?? '<none>',
    annotations: metadata.annotations ?? '<none>',
    created: metadata.creationTimestamp,
    ...(metadata.deletionTimestamp ? { 'being deleted since': metadata.deletionTimestamp } : {}),
    ...(metadata.ownerReferences
      ? { 'owned by': metadata.ownerReferences.map((owner) => `${owner.kind}/${owner.name}`) }
      : {}),
  };
  const placement = inHub && resource.namespaced ? await placementOf(client, object) : '';
  return formatTree({ ...head, ...rest }) + placement + (await eventsOf(client, object));
}

async function placementOf(client: Client, object: KubeObject): Promise<string> {
  const bindings = await client
    .resource(RESOURCE_BINDINGS)
    .list({ namespace: object.metadata?.namespace })
    .catch(() => ({ items: [] as ResourceBinding[] }));
  const binding = bindings.items.find(({ spec }) => spec.resource.uid === object.metadata?.uid);
  if (binding === undefined) return '';
  const rows = (binding.spec.clusters ?? []).map(({ name, replicas }) => {
    const status = binding.status?.aggregatedStatus?.find(({ clusterName }) => clusterName === name);
    const applied = status?.applied === undefined ? 'Unknown' : status.applied ? 'True' : 'False';
    return ['', name, String(replicas ?? '-'), applied, status?.health ?? 'Unknown', status?.appliedMessage ?? ''];
  });
  return `Placement:\n${formatColumns([['', 'CLUSTER', 'REPLICAS', 'APPLIED', 'HEALTH', 'MESSAGE'], ...rows])}`;
}

async function eventsOf(client: Client, object: KubeObject): Promise<string> {
  const { namespace, name, uid } = object.metadata ?? {};
  const fieldSelector = `involvedObject.name=${name},involvedObject.uid=${uid}`;
  const { items } = await client.resource(EVENTS).list({ namespace: namespace ?? 'default', fieldSelector });
  if (items.length === 0) return 'Events:       <none>\n';
  return `Events:\n${formatColumns([['', 'TYPE', 'REASON', 'AGE', 'MESSAGE'], ...items.map(eventRow)])}`;
}

function eventRow(event: Event): string[] {
  const seen = Date.parse(event.lastTimestamp ?? event.eventTime ?? event.metadata?.creationTimestamp ?? '');
  return ['', event.type ?? '', event.reason ?? '', formatAge(wallNow() - seen), (event.message ?? '').trim()];
}
