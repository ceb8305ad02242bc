import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  isAlreadyExists,
  isNotFound,
  type KubeObject,
  ROLE_BINDINGS,
  ROLES,
  type ResourceType,
} from '@asterism/machinery';
import type { UserInfo } from '../contract/user-info.ts';
import { discardingDamaged } from '../registry/discard-damaged.ts';
import type { Registry } from '../registry/registry.ts';
import { uncoveredRules } from './cover-rules.ts';
import { type DefaultBinding, type DefaultRole, defaultBindings, defaultRoles } from './default-policy.ts';
import type { PolicyRule } from './policy-rule.ts';
import type { Subject } from './rbac-index.ts';

const API_VERSION = 'rbac.authorization.k8s.io/v1';
const API_GROUP = 'rbac.authorization.k8s.io';
/** Written at once. All at once they need 2 MB more, which the C library keeps. */
const BATCH = 8;
const AUTO_UPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

/**
 * Creates the default roles and bindings where they are missing, and gives back to them what was taken away: rules, subjects,
 * labels. What somebody added stays. Annotated `autoupdate: "false"` they are left alone, as upstream.
 */
export async function reconcileDefaultPolicy(registry: Registry, user: UserInfo): Promise<void> {
  const steps: (() => Promise<void>)[] = [
    ...defaultRoles().map((role) => {
      const type = role.namespace === '' ? CLUSTER_ROLES : ROLES;
      return () => reconcile(registry, user, type, roleObject(role), (existing) => mergeRole(existing, role));
    }),
    ...defaultBindings().map((binding) => {
      const type = binding.namespace === '' ? CLUSTER_ROLE_BINDINGS : ROLE_BINDINGS;
      return () =>
        reconcile(registry, user, type, bindingObject(binding), (existing) => mergeBinding(existing, binding));
    }),
  ];
  for (let at = 0; at < steps.length; at += BATCH) {
    await Promise.all(steps.slice(at, at + BATCH).map((step) => step()));
  }
}

type Merge = (existing: KubeObject) => KubeObject | undefined;

async function reconcile(
  registry: Registry,
  user: UserInfo,
  type: ResourceType,
  wanted: KubeObject,
  merge: Merge,
): Promise<void> {
  const { namespace, name = '' } = wanted.metadata ?? {};
  const ensure = (): Promise<void> => ensureMerged(registry, user, type, { wanted, merge });
  await discardingDamaged(registry, type, { ref: { namespace, name }, user }, ensure);
}

async function ensureMerged(
  registry: Registry,
  user: UserInfo,
  type: ResourceType,
  { wanted, merge }: { wanted: KubeObject; merge: Merge },
): Promise<void> {
  const resource = registry.find(type.group, type.version, type.resource);
  if (resource === undefined) throw new Error(`${type.resource}.${type.group} is not served`);
  const { namespace, name = '' } = wanted.metadata ?? {};
  const context = { namespace, name, user, fieldManager: 'kube-apiserver' };
  try {
    const existing = (await registry.get(resource, { namespace, name })).parse();
    if (existing.metadata?.annotations?.[AUTO_UPDATE] === 'false') return;
    const merged = merge(existing);
    if (merged !== undefined) await registry.update(resource, { namespace, name }, merged, context);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await registry.create(resource, wanted, { ...context, name: undefined }).catch((createError: unknown) => {
      if (!isAlreadyExists(createError)) throw createError;
    });
  }
}

function metadataOf({
  name,
  namespace,
  labels = {},
}: {
  name: string;
  namespace: string;
  labels?: Record<string, string>;
}) {
  return {
    name,
    ...(namespace === '' ? {} : { namespace }),
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
    annotations: { [AUTO_UPDATE]: 'true' },
  };
}

function roleObject(role: DefaultRole): KubeObject {
  return {
    kind: role.namespace === '' ? 'ClusterRole' : 'Role',
    apiVersion: API_VERSION,
    metadata: metadataOf(role),
    rules: role.rules ?? null,
    ...(role.aggregates === undefined ? {} : { aggregationRule: aggregationRule(role.aggregates) }),
  };
}

function aggregationRule(label: string) {
  return { clusterRoleSelectors: [{ matchLabels: { [label]: 'true' } }] };
}

function subjectsOf({ users = [], groups = [], serviceAccounts = [] }: DefaultBinding): Subject[] {
  return [
    ...users.map((name) => ({ kind: 'User', apiGroup: API_GROUP, name })),
    ...groups.map((name) => ({ kind: 'Group', apiGroup: API_GROUP, name })),
    ...serviceAccounts.map((key) => {
      const [namespace = '', name = ''] = key.split('/');
      return { kind: 'ServiceAccount', name, namespace };
    }),
  ];
}

function bindingObject(binding: DefaultBinding): KubeObject {
  const subjects = subjectsOf(binding);
  return {
    kind: binding.namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding',
    apiVersion: API_VERSION,
    metadata: metadataOf(binding),
    ...(subjects.length > 0 ? { subjects } : {}),
    roleRef: { apiGroup: API_GROUP, ...binding.role },
  };
}

/** The role with what it lacks, or undefined where it lacks nothing. */
function mergeRole(existing: KubeObject, role: DefaultRole): KubeObject | undefined {
  const rules = (existing.rules as PolicyRule[] | null | undefined) ?? [];
  const lacking = role.aggregates === undefined ? uncoveredRules(rules, role.rules ?? []) : [];
  const aggregated = role.aggregates !== undefined && existing.aggregationRule === undefined;
  const metadata = mergeMetadata(existing, role);
  if (lacking.length === 0 && !aggregated && metadata === undefined) return undefined;
  return {
    ...existing,
    metadata: metadata ?? existing.metadata ?? {},
    ...(lacking.length > 0 ? { rules: [...rules, ...lacking] } : {}),
    ...(aggregated ? { aggregationRule: aggregationRule(role.aggregates!) } : {}),
  };
}

function mergeBinding(existing: KubeObject, binding: DefaultBinding): KubeObject | undefined {
  const subjects = (existing.subjects as Subject[] | null | undefined) ?? [];
  const known = new Set(subjects.map(subjectText));
  const lacking = subjectsOf(binding).filter((subject) => !known.has(subjectText(subject)));
  const metadata = mergeMetadata(existing, binding);
  if (lacking.length === 0 && metadata === undefined) return undefined;
  return { ...existing, metadata: metadata ?? existing.metadata ?? {}, subjects: [...subjects, ...lacking] };
}

function subjectText({ kind, namespace = '', name }: Subject): string {
  return `${kind}/${namespace}/${name}`;
}

function mergeMetadata(
  { metadata = {} }: KubeObject,
  wanted: { name: string; namespace: string; labels?: Record<string, string> },
): KubeObject['metadata'] | undefined {
  const { labels, annotations } = metadataOf(wanted);
  const lacksLabel = Object.entries(labels).some(([key, value]) => metadata.labels?.[key] !== value);
  const lacksAnnotation = metadata.annotations?.[AUTO_UPDATE] === undefined;
  if (!lacksLabel && !lacksAnnotation) return undefined;
  return {
    ...metadata,
    labels: { ...metadata.labels, ...labels },
    annotations: { ...annotations, ...metadata.annotations },
  };
}
