import { type Client, withBasePath, createClient } from '@asterism/client';
import { type Cluster, CLUSTERS, memberProxyPath, RESOURCE_BINDINGS, type ResourceBinding } from '@asterism/fleet/api';
import { type Deployment, DEPLOYMENTS, isConditionTrue, ifFound } from '@asterism/machinery';
import { DEMO_DEPLOYMENT, DEMO_NAMESPACE } from './manifests.ts';

/** One cluster's part in the demo. Every cell was read from the API: of the hub, or of the member through the hub. */
export interface DemoRow {
  cluster: string;
  mode: string;
  region: string;
  /** What the member's own Deployment says; undefined where it has none. */
  replicas: number | undefined;
  ready: number | undefined;
  image: string | undefined;
  /** The reason that the binding records. */
  why: string;
}

export interface DemoTable {
  /** `9/9`: ready of wanted, as the hub's Deployment says; undefined where it was deleted. */
  deployment: string | undefined;
  rows: DemoRow[];
}

const ref = { namespace: DEMO_NAMESPACE, name: DEMO_DEPLOYMENT };

export async function readDemoTable(hub: Client): Promise<DemoTable> {
  const [clusters, template] = await Promise.all([
    hub.resource(CLUSTERS).list(),
    ifFound(hub.resource(DEPLOYMENTS).get(ref)),
  ]);
  const binding = template === undefined ? undefined : await bindingOf(hub, template);
  const rows = await Promise.all(
    clusters.items
      .toSorted((a, b) => (a.metadata.name ?? '').localeCompare(b.metadata.name ?? ''))
      .map((cluster) => readRow(hub, cluster, binding)),
  );
  return { deployment: template && `${template.status?.readyReplicas ?? 0}/${template.spec?.replicas ?? 1}`, rows };
}

async function bindingOf(hub: Client, template: Deployment): Promise<ResourceBinding | undefined> {
  const { items } = await hub.resource(RESOURCE_BINDINGS).list({ namespace: DEMO_NAMESPACE });
  return items.find(({ spec }) => spec.resource.uid === template.metadata?.uid);
}

async function readRow(hub: Client, cluster: Cluster, binding: ResourceBinding | undefined): Promise<DemoRow> {
  const name = cluster.metadata.name ?? '';
  const decision = binding?.spec.decisions?.find((candidate) => candidate.cluster === name);
  const row = {
    cluster: name,
    mode: modeOf(cluster),
    region: cluster.spec.region ?? '',
    replicas: undefined,
    ready: undefined,
    image: undefined,
  };
  if (!isConditionTrue(cluster.status?.conditions, 'Ready')) return { ...row, why: 'the cluster is not ready' };
  const deployment = await ifFound(memberClient(hub, name).resource(DEPLOYMENTS).get(ref));
  return {
    ...row,
    ...(deployment === undefined ? {} : shareOf(deployment)),
    why: decision === undefined ? 'not decided yet' : decision.message,
  };
}

function shareOf({ spec, status }: Deployment): Pick<DemoRow, 'replicas' | 'ready' | 'image'> {
  return {
    replicas: spec?.replicas ?? 1,
    ready: status?.readyReplicas ?? 0,
    image: spec?.template?.spec?.containers?.[0]?.image,
  };
}

function modeOf({ spec }: Cluster): string {
  const isPrivate = spec.connection.type === 'Tunnel' && spec.connection.apiEndpoint === undefined;
  return isPrivate ? `${spec.syncMode}, private` : spec.syncMode;
}

function memberClient(hub: Client, cluster: string): Client {
  return createClient({ transport: withBasePath(hub.transport, memberProxyPath(cluster)), userAgent: 'aster' });
}

/** Whether every wanted replica is ready, and each member has just what it shall have. */
export function isSettled({ deployment, rows }: DemoTable): boolean {
  if (deployment === undefined) return true;
  const [ready, wanted] = deployment.split('/').map(Number);
  const placed = rows.filter(({ replicas }) => replicas !== undefined);
  const standing = placed.reduce((sum, row) => sum + (row.ready ?? 0), 0);
  return ready === wanted && standing === wanted && placed.every((row) => row.ready === row.replicas);
}
