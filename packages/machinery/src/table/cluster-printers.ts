import type { APIService } from '../generated/apiregistration-v1.ts';
import type { CertificateSigningRequest } from '../generated/certificates-v1.ts';
import type { Lease } from '../generated/coordination-v1.ts';
import type {
  ComponentStatus,
  ConfigMap,
  Namespace,
  Node,
  ResourceQuota,
  Secret,
  ServiceAccount,
} from '../generated/core-v1.ts';
import type { RuntimeClass } from '../generated/node-v1.ts';
import type { ClusterRoleBinding, RoleBinding } from '../generated/rbac-v1.ts';
import type { PriorityClass } from '../generated/scheduling-v1.ts';
import { findCondition } from '../conditions.ts';
import { NONE, UNKNOWN, joined } from './cell-text.ts';
import { formatAge } from './format-age.ts';
import { AGE, NAME, type TablePrinter, boolean, definePrinter, integer, text, wide } from './table-printer.ts';

export const NAMESPACE_PRINTER: TablePrinter = definePrinter<Namespace>([
  NAME,
  text('Status', ({ status }) => status?.phase ?? ''),
  AGE,
]);

export const CONFIG_MAP_PRINTER: TablePrinter = definePrinter<ConfigMap>([
  NAME,
  text('Data', ({ data, binaryData }) => size(data) + size(binaryData)),
  AGE,
]);

export const SECRET_PRINTER: TablePrinter = definePrinter<Secret>([
  NAME,
  text('Type', ({ type }) => type ?? ''),
  text('Data', ({ data }) => size(data)),
  AGE,
]);

export const SERVICE_ACCOUNT_PRINTER: TablePrinter = definePrinter<ServiceAccount>([NAME, AGE]);

export const NODE_PRINTER: TablePrinter = definePrinter<Node>([
  NAME,
  text('Status', nodeStatus),
  text('Roles', nodeRoles),
  AGE,
  text('Version', ({ status }) => status?.nodeInfo?.kubeletVersion ?? ''),
  ...wide<Node>(
    text('Internal-IP', (node) => nodeAddress(node, 'InternalIP')),
    text('External-IP', (node) => nodeAddress(node, 'ExternalIP')),
    text('OS-Image', ({ status }) => status?.nodeInfo?.osImage || UNKNOWN),
    text('Kernel-Version', ({ status }) => status?.nodeInfo?.kernelVersion || UNKNOWN),
    text('Container-Runtime', ({ status }) => status?.nodeInfo?.containerRuntimeVersion || UNKNOWN),
  ),
]);

export const RESOURCE_QUOTA_PRINTER: TablePrinter = definePrinter<ResourceQuota>([
  NAME,
  text('Request', (quota) => quotaText(quota, (resource) => !resource.startsWith('limits.'))),
  text('Limit', (quota) => quotaText(quota, (resource) => resource.startsWith('limits.'))),
  AGE,
]);

export const COMPONENT_STATUS_PRINTER: TablePrinter = definePrinter<ComponentStatus>([
  NAME,
  text('Status', ({ conditions }) => {
    const healthy = findCondition(conditions, 'Healthy')?.status;
    return healthy === undefined ? 'Unknown' : healthy === 'True' ? 'Healthy' : 'Unhealthy';
  }),
  text('Message', ({ conditions }) => findCondition(conditions, 'Healthy')?.message ?? ''),
  text('Error', ({ conditions }) => findCondition(conditions, 'Healthy')?.error ?? ''),
]);

export const LEASE_PRINTER: TablePrinter = definePrinter<Lease>([
  NAME,
  text('Holder', ({ spec }) => spec?.holderIdentity ?? ''),
  AGE,
]);

export const PRIORITY_CLASS_PRINTER: TablePrinter = definePrinter<PriorityClass>([
  NAME,
  integer('Value', ({ value }) => value ?? 0),
  boolean('Global-Default', ({ globalDefault }) => globalDefault ?? false),
  AGE,
  text('PreemptionPolicy', ({ preemptionPolicy }) => preemptionPolicy ?? ''),
]);

export const RUNTIME_CLASS_PRINTER: TablePrinter = definePrinter<RuntimeClass>([
  NAME,
  text('Handler', ({ handler }) => handler),
  AGE,
]);

export const ROLE_BINDING_PRINTER: TablePrinter = definePrinter<RoleBinding | ClusterRoleBinding>([
  NAME,
  text('Role', ({ roleRef }) => `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`),
  AGE,
  ...wide<RoleBinding | ClusterRoleBinding>(
    text('Users', (binding) => subjects(binding, 'User').join(', ')),
    text('Groups', (binding) => subjects(binding, 'Group').join(', ')),
    text('ServiceAccounts', (binding) => subjects(binding, 'ServiceAccount').join(', ')),
  ),
]);

export const CERTIFICATE_SIGNING_REQUEST_PRINTER: TablePrinter = definePrinter<CertificateSigningRequest>([
  NAME,
  AGE,
  text('SignerName', ({ spec }) => spec?.signerName || NONE),
  text('Requestor', ({ spec }) => spec?.username ?? ''),
  text('RequestedDuration', ({ spec }) =>
    spec?.expirationSeconds === undefined ? NONE : formatAge(spec.expirationSeconds * 1000),
  ),
  text('Condition', signingCondition),
]);

export const API_SERVICE_PRINTER: TablePrinter = definePrinter<APIService>([
  NAME,
  text('Service', ({ spec }) => (spec?.service ? `${spec.service.namespace}/${spec.service.name}` : 'Local')),
  text('Available', ({ status }) => {
    const available = findCondition(status?.conditions, 'Available');
    if (!available) return 'Unknown';
    return available.status === 'True' ? 'True' : `${available.status} (${available.reason ?? ''})`;
  }),
  AGE,
]);

function size(entries: Record<string, unknown> | null | undefined): number {
  return Object.keys(entries ?? {}).length;
}

function nodeStatus({ spec, status }: Node): string {
  const ready = findCondition(status?.conditions, 'Ready');
  const told = !ready ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return spec?.unschedulable ? `${told},SchedulingDisabled` : told;
}

/** Both ways to label a node with its roles. */
function nodeRoles({ metadata }: Node): string {
  const prefix = 'node-role.kubernetes.io/';
  const roles = Object.entries(metadata?.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(prefix)) return [key.slice(prefix.length)];
    return key === 'kubernetes.io/role' ? [value] : [];
  });
  return joined([...new Set(roles.filter((role) => role !== ''))].sort());
}

function nodeAddress({ status }: Node, type: string): string {
  return status?.addresses?.find((address) => address.type === type)?.address ?? NONE;
}

function quotaText({ status }: ResourceQuota, wanted: (resource: string) => boolean): string {
  return Object.keys(status?.hard ?? {})
    .filter(wanted)
    .sort()
    .map((resource) => `${resource}: ${status?.used?.[resource] ?? 0}/${status?.hard?.[resource]}`)
    .join(', ');
}

function subjects(binding: RoleBinding | ClusterRoleBinding, kind: string): string[] {
  return (binding.subjects ?? [])
    .filter((subject) => subject.kind === kind)
    .map(({ namespace, name }) => (kind === 'ServiceAccount' ? `${namespace}/${name}` : name));
}

/** `Denied` goes before `Approved`; what became of it after is told behind. */
function signingCondition({ status }: CertificateSigningRequest): string {
  const has = (type: string) => findCondition(status?.conditions, type) !== undefined;
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
  return `${decision}${has('Failed') ? ',Failed' : ''}${status?.certificate ? ',Issued' : ''}`;
}
