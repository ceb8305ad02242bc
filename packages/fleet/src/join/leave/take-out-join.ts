import type { Client } from '@asterism/client';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  CONFIG_MAPS,
  DAEMON_SETS,
  DEPLOYMENTS,
  type KubeObject,
  NAMESPACES,
  type ResourceType,
  ROLE_BINDINGS,
  ROLES,
  SECRETS,
  SERVICE_ACCOUNTS,
  SERVICES,
  STATEFUL_SETS,
  type StatusError,
  ifFound,
  isForbidden,
  isUnauthorized,
} from '@asterism/machinery';
import { AGENT_CREDENTIAL_SECRET, MADE_BY_JOIN, MADE_BY_LABEL, SYSTEM_NAMESPACE } from '../../api/index.ts';

/** In the whole cluster, and in our namespace: the kinds that a join makes. */
/** RoleBindings of the profile `workloads` are in the namespaces that it may write. */
const CLUSTER_KINDS: readonly ResourceType[] = [CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS];
const NAMESPACE_KINDS: readonly ResourceType[] = [DEPLOYMENTS, SERVICE_ACCOUNTS, ROLES, SECRETS];
/** What somebody else may have put into our namespace and would miss. */
const FOREIGN_KINDS: readonly ResourceType[] = [
  ...NAMESPACE_KINDS,
  ROLE_BINDINGS,
  CONFIG_MAPS,
  SERVICES,
  DAEMON_SETS,
  STATEFUL_SETS,
];

const OURS = `${MADE_BY_LABEL}=${MADE_BY_JOIN}`;
/** Of a join by an agent, and of one by which the hub comes. */
const ROOTS = ['asterism:agent', 'asterism:hub'] as const;

export interface TakeOutOptions {
  /** The ClusterRoleBinding by which this client's user has its rights: everything is hung on it, and it goes. */
  root: (typeof ROOTS)[number];
  signal?: AbortSignal | undefined;
  /** Told when all hangs on the root, which is deleted next. */
  onBegun?: (() => Promise<void>) | undefined;
  /** Whether that was told before: a member that does not let us ask then has done it, and the answer was lost. Default false. */
  begun?: boolean | undefined;
}

/** Whether the member does not know the credential, or gives it no right to what was asked. */
export const isRefusal = (error: unknown): error is StatusError => isUnauthorized(error) || isForbidden(error);

/**
 * Takes out of a member what its join made there, and nothing else; resolves when the member has been told.
 *
 * Whoever does it loses his rights on the way. So everything is first made to belong to one object, the binding that gives these
 * rights, and then that one is deleted: the member's garbage collector takes the rest, and there is no half of it. Before that
 * nothing is lost, and it can be begun again.
 *
 * The namespace goes only where a join made it and nobody has put anything else into it. Where there is no such binding, because the
 * credential was given, nobody loses rights, and each object is deleted by itself; unless they hang on the binding of another join.
 */
export async function takeOutJoin(
  member: Client,
  { root, signal, onBegun, begun = false }: TakeOutOptions,
): Promise<void> {
  const asking = member.resource(CLUSTER_ROLE_BINDINGS).get({ name: root }, { signal });
  const binding = await ifFound(asking).catch((error: unknown) => {
    if (begun && isRefusal(error)) return 'refused' as const;
    throw error;
  });
  if (binding === 'refused') return;
  if (!binding || !isOurs(binding)) return await takeOutSingly(member, root, signal);
  const { uid = '' } = binding.metadata ?? {};
  const owner = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', name: root, uid };
  for (const { type, object } of await madeByJoin(member, root, signal)) {
    const { name = '', namespace, ownerReferences = [] } = object.metadata ?? {};
    if (ownerReferences.some((reference) => reference.uid === uid)) continue;
    const body = { metadata: { ownerReferences: [owner] } };
    await ignoreNotFound(member.resource(type).patch({ name, namespace }, { type: 'merge', body }, { signal }));
  }
  await onBegun?.();
  const options = { propagationPolicy: 'Background', preconditions: { uid }, signal } as const;
  await ignoreNotFound(member.resource(CLUSTER_ROLE_BINDINGS).delete({ name: root }, options));
}

async function takeOutSingly(member: Client, root: string, signal: AbortSignal | undefined): Promise<void> {
  const made = await madeByJoin(member, root, signal);
  const isOthersRoot = ({ type, object }: Typed): boolean =>
    type === CLUSTER_ROLE_BINDINGS && ROOTS.some((name) => name === object.metadata?.name);
  if (made.some(isOthersRoot)) return;
  for (const { type, object } of made) {
    const { name = '', namespace, uid } = object.metadata ?? {};
    const options = { propagationPolicy: 'Background', preconditions: { uid }, signal } as const;
    await ignoreNotFound(member.resource(type).delete({ name, namespace }, options));
  }
}

interface Typed {
  type: ResourceType;
  object: KubeObject;
}

async function madeByJoin(member: Client, root: string, signal: AbortSignal | undefined): Promise<Typed[]> {
  const listed = async (type: ResourceType, namespace?: string): Promise<Typed[]> => {
    const { items } = await member.resource(type).list({ namespace, labelSelector: OURS, signal });
    return items.map((object) => ({ type, object }));
  };
  const found = await Promise.all([
    ...CLUSTER_KINDS.map((type) => listed(type)),
    ...NAMESPACE_KINDS.map((type) => listed(type, SYSTEM_NAMESPACE)),
  ]);
  const own = { namespace: SYSTEM_NAMESPACE, name: AGENT_CREDENTIAL_SECRET };
  const credential = await ifFound(member.resource(SECRETS).get(own, { signal }));
  const namespace = await ifFound(member.resource(NAMESPACES).get({ name: SYSTEM_NAMESPACE }, { signal }));
  const goes = namespace && isOurs(namespace) && !(await isSharedWithOthers(member, signal));
  return [
    ...found.flat().filter(({ type, object }) => type !== CLUSTER_ROLE_BINDINGS || object.metadata?.name !== root),
    ...(credential ? [{ type: SECRETS, object: credential }] : []),
    ...(goes ? [{ type: NAMESPACES, object: namespace }] : []),
  ];
}

/** Not counted is what Kubernetes puts into every namespace, and what belongs to something else. */
async function isSharedWithOthers(member: Client, signal: AbortSignal | undefined): Promise<boolean> {
  const lists = await Promise.all(
    FOREIGN_KINDS.map((type) => member.resource(type).list({ namespace: SYSTEM_NAMESPACE, signal })),
  );
  return lists.flatMap(({ items }) => items as KubeObject[]).some((object) => !isOurs(object) && !isUsual(object));
}

const isOurs = ({ metadata }: KubeObject): boolean => metadata?.labels?.[MADE_BY_LABEL] === MADE_BY_JOIN;

function isUsual({ metadata, ...object }: KubeObject): boolean {
  const { name, ownerReferences = [] } = metadata ?? {};
  return (
    name === 'default' ||
    name === 'kube-root-ca.crt' ||
    name === AGENT_CREDENTIAL_SECRET ||
    object['type'] === 'kubernetes.io/service-account-token' ||
    ownerReferences.length > 0
  );
}

async function ignoreNotFound(writing: Promise<unknown>): Promise<void> {
  await ifFound(writing);
}
