import type { Cluster } from '@asterism/fleet/api';
import { explainHealth } from '@asterism/fleet/join';
import { formatAge, formatQuantity, parseQuantity, subtractQuantities } from '@asterism/machinery';
import { formatColumns } from '../output/columns.ts';

type Status = NonNullable<Cluster['status']>;
type Probe = NonNullable<NonNullable<Status['apiServer']>['readyz']>;

/** What `aster describe cluster` prints: how it is, since when, why and what to do; then what it is and has. */
export function describeCluster(cluster: Cluster, renewTime: string | undefined, now: number): string {
  const { metadata, spec, status = {} } = cluster;
  const { state, why, consequences, advice } = explainHealth(cluster, renewTime, now);
  const lines: [label: string, value: string | undefined][] = [
    ['Name', metadata.name],
    ['State', state],
    ['Why', why],
    ...listed('So', consequences),
    ...listed('What to do', advice),
    ['Last heard', renewTime && `${formatAge(now - Date.parse(renewTime))} ago, ${renewTime}`],
    ['Joined', metadata.creationTimestamp],
    ['Mode', spec.syncMode],
    ['Connection', connectionOf(cluster)],
    ['Agent', status.agentVersion],
    ['Permissions', permissionsOf(status)],
    ['Kubernetes', [status.kubernetesVersion, status.platform].filter(Boolean).join(', ') || undefined],
    ['API server', apiServerOf(status)],
    ['Place', [spec.provider, spec.region, spec.zones?.join(',')].filter(Boolean).join(', ') || undefined],
    ['Nodes', nodesOf(status)],
    ['Pods', podsOf(status)],
    ['Pod ranges', status.podCIDRs?.join(', ') || undefined],
    ['Service ranges', status.serviceCIDRs?.join(', ') || undefined],
    ['Taints', spec.taints?.map(taintInWords(now)).join(', ') || '<none>'],
    ['Labels', labelsOf(metadata.labels)],
  ];
  const told = lines.filter((line): line is [string, string] => line[1] !== undefined);
  return formatColumns(told.map(([label, value]) => [label && `${label}:`, value])) + tablesOf(status, now);
}

/** The label stands before the first alone. */
function listed(label: string, values: readonly string[]): [string, string][] {
  return values.map((value, index) => [index === 0 ? label : '', values.length > 1 ? `- ${value}` : value]);
}

function connectionOf({ spec: { connection }, status }: Cluster): string {
  const { type, apiEndpoint } = connection;
  const roundTrip = status?.tunnel?.roundTripMilliseconds;
  const how =
    type === 'Tunnel' ? "through its agent's tunnel" : `the hub dials ${apiEndpoint ?? 'an address not told yet'}`;
  return roundTrip === undefined ? how : `${how}, ${roundTrip} ms there and back`;
}

function permissionsOf({ permissions }: Status): string | undefined {
  if (!permissions) return undefined;
  const { profile, namespaces, missing, excess } = permissions;
  const parts = [
    namespaces === undefined ? profile : `${profile} in ${namespaces.join(', ') || 'no namespace'}`,
    ...(missing ? [`lacks ${missing.join('; ')}`] : []),
    ...(excess ? [`has more: ${excess.join('; ')}`] : []),
  ];
  return parts.join('; ');
}

function apiServerOf({ apiServer }: Status): string | undefined {
  if (!apiServer) return undefined;
  const { addresses = [], livez, readyz } = apiServer;
  return [addresses.join(', '), probeInWords('livez', livez), probeInWords('readyz', readyz)]
    .filter(Boolean)
    .join('; ');
}

function probeInWords(name: string, probe: Probe | undefined): string {
  if (!probe) return '';
  if (probe.ok) return `${name} ok`;
  return probe.failing
    ? `${name} fails: ${probe.failing.join(', ')}`
    : `${name} fails: ${probe.message ?? 'no reason told'}`;
}

function nodesOf({ nodes }: Status): string | undefined {
  if (!nodes) return undefined;
  const { total, ready, schedulable = ready } = nodes;
  const all = `${ready} ready of ${total}`;
  return schedulable === ready ? all : `${all}, ${ready - schedulable} of them cordoned`;
}

function podsOf({ pods }: Status): string | undefined {
  return pods && `${pods.running} running, ${pods.pending} pending; room for ${pods.max ?? 0}`;
}

function taintInWords(now: number): (taint: NonNullable<Cluster['spec']['taints']>[number]) => string {
  return ({ key, value, effect, timeAdded }) => {
    const since = timeAdded === undefined ? '' : ` for ${formatAge(now - Date.parse(timeAdded))}`;
    return `${key}${value ? `=${value}` : ''}:${effect}${since}`;
  };
}

function labelsOf(labels: Readonly<Record<string, string>> = {}): string {
  return (
    Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(', ') || '<none>'
  );
}

function tablesOf(status: Status, now: number): string {
  const conditions = (status.conditions ?? []).map(({ type, status: is, reason, message, lastTransitionTime }) => [
    '',
    type,
    is,
    formatAge(now - Date.parse(lastTransitionTime)),
    reason,
    message,
  ]);
  return [
    table(
      'Resources',
      ['', 'RESOURCE', 'CAPACITY', 'ALLOCATABLE', 'ALLOCATED', 'FREE', 'REQUESTED'],
      resourceRows(status),
    ),
    table('Conditions', ['', 'TYPE', 'STATUS', 'FOR', 'REASON', 'MESSAGE'], conditions),
  ].join('');
}

function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? '' : `${title}:\n${formatColumns([head, ...rows])}`;
}

function resourceRows({ resources }: Status): string[][] {
  const { capacity = {}, allocatable = {}, allocated = {}, requested = {} } = resources ?? {};
  const names = [...new Set([...Object.keys(capacity), ...Object.keys(allocatable), ...Object.keys(requested)])].sort();
  return names.map((name) => {
    const all = parseQuantity(allocatable[name] ?? '0');
    const free = formatQuantity(subtractQuantities(all, parseQuantity(allocated[name] ?? '0')));
    return [
      '',
      name,
      ...[capacity, allocatable, allocated].map((list) => list[name] ?? '0'),
      free,
      requested[name] ?? '0',
    ];
  });
}
