import type { Client } from '@asterism/client';
import { type KubeObject, type ResourceType, StatusError } from '@asterism/machinery';
import { type Finding, fault, fine, remark } from '../finding.ts';

/** One thing that somebody wants to do. `group: '*'` and `resource: '*'` are everything. */
export interface Attempt {
  verb: string;
  group: string;
  resource: string;
  subresource?: string | undefined;
  namespace?: string | undefined;
  name?: string | undefined;
}

const reviews = (kind: string): ResourceType<KubeObject> => ({
  group: 'authorization.k8s.io',
  version: 'v1',
  resource: `${kind.toLowerCase()}s`,
  kind,
  namespaced: false,
});

export interface IsAllowedOptions {
  signal?: AbortSignal | undefined;
  /** Default: the client's own user. */
  account?: { user: string; groups: string[] } | undefined;
}

/** Whether the account may; undefined if the server does not let the client ask. */
export async function isAllowed(
  client: Client,
  { verb, group, resource, subresource, namespace, name }: Attempt,
  { signal, account }: IsAllowedOptions = {},
): Promise<boolean | undefined> {
  const resourceAttributes = { verb, group, resource, subresource, namespace, name };
  const type = reviews(account ? 'SubjectAccessReview' : 'SelfSubjectAccessReview');
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: type.kind, spec: { resourceAttributes, ...account } };
  try {
    const answer = await client.resource(type).create(review, { signal });
    return (answer['status'] as { allowed?: boolean } | undefined)?.allowed === true;
  } catch (error) {
    if (error instanceof StatusError && (error.code === 403 || error.code === 404)) return undefined;
    throw error;
  }
}

/** What applying objects takes; and, where roles are among them, the right to give what they hold. */
export function attemptsToApply(objects: readonly { type: ResourceType; object: KubeObject }[]): Attempt[] {
  const attempts = objects.flatMap(({ type: { group, resource }, object }): Attempt[] => {
    const { namespace } = object.metadata ?? {};
    const at = { group, resource, ...(namespace === undefined ? {} : { namespace }) };
    // Server-side apply is a patch that may create.
    return [
      { ...at, verb: 'create' },
      { ...at, verb: 'patch' },
    ];
  });
  const giving = objects.some(({ object }) => object.kind === 'ClusterRole' || object.kind === 'Role') ? GIVING : [];
  return [...new Map([...attempts, ...giving].map((attempt) => [formatAttempt(attempt), attempt])).values()];
}

/** What the hub does in a member that it dials, as whoever it is there. */
export const DIRECT_ATTEMPTS: readonly Attempt[] = [
  ...['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'].map((verb) => ({
    verb,
    group: '*',
    resource: '*',
  })),
  ...['users', 'groups'].map((resource) => ({ verb: 'impersonate', group: '', resource })),
];

/** Who has every right may give every right; else it takes these. */
const EVERYTHING: Attempt = { verb: '*', group: '*', resource: '*' };
const GIVING: readonly Attempt[] = ['escalate', 'bind'].map((verb) => ({
  verb,
  group: 'rbac.authorization.k8s.io',
  resource: 'clusterroles',
}));

/** Looks whether the client's user may do all of it, and names what is missing. */
export async function checkRights(
  client: Client,
  { attempts, where, signal }: { attempts: readonly Attempt[]; where: string; signal?: AbortSignal | undefined },
): Promise<Finding> {
  if ((await isAllowed(client, EVERYTHING, { signal })) === true) return fine('rights', `${where}: all that it takes`);
  const answers = await Promise.all(attempts.map((attempt) => isAllowed(client, attempt, { signal })));
  if (answers.every((answer) => answer === undefined)) {
    return remark('rights', `${where} does not say what this user may do there`);
  }
  const missing = attempts.filter((_, index) => answers[index] === false).map(formatAttempt);
  if (missing.length === 0) return fine('rights', `${where}: all that it takes`);
  return fault(
    'rights',
    `${where}: this user may not ${missing.join('; ')}`,
    'use a kubeconfig of an administrator of that cluster, or have `aster join --manifest` printed and applied by one',
  );
}

export function formatAttempt({ verb, group, resource, subresource, namespace }: Attempt): string {
  const what = [resource + (group ? `.${group}` : ''), subresource].filter(Boolean).join('/');
  return `${verb} ${what}${namespace === undefined ? '' : ` in ${namespace}`}`;
}
