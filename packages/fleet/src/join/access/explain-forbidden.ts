import type { StatusError } from '@asterism/machinery';
import { isSystemNamespace, type PermissionProfile, WORKLOAD_KINDS } from './permissions.ts';

/** The right that an API server missed, and the smallest profile of `aster join --permissions` that includes it. */
export interface MissingRight {
  /** `patch deployments.apps in namespace shop`. */
  right: string;
  profile: PermissionProfile;
  /** Profile `workloads`: the namespace that `--namespaces` must list. */
  namespace?: string | undefined;
}

/** No API server says it in more; a member may send anything. */
const MAX_MESSAGE = 8_192;

const WRITE_VERBS = new Set(['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']);
/** These are rights of the profile `platform` on roles. */
const ROLE_VERBS = new Set(['bind', 'escalate']);
const ROLE_KINDS = new Set(['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings']);
const CANNOT = ' cannot ';
/** kube-apiserver says this of a role with more rights than the writer has. */
const ESCALATION = 'attempting to grant RBAC permissions not currently held';

/**
 * Reads the right that is missing from an answer 403 of a member.
 *
 * - (F1) Only the words of the authorizer and of the escalation check count. A webhook, a quota or a Pod Security level refuses whatever
 *   the account may do, so no profile is named for them.
 * - (F2) The answer names the smallest profile that allows the write.
 *
 * @returns undefined if no profile would change the answer
 */
export function explainForbidden(error: Pick<StatusError, 'code' | 'message' | 'status'>): MissingRight | undefined {
  if (error.code !== 403) return undefined;
  const message = error.message.slice(0, MAX_MESSAGE);
  if (message.includes(ESCALATION)) return grantedRight(error, message);
  const user = message.indexOf('User "');
  const at = user < 0 ? -1 : message.indexOf(CANNOT, user);
  if (at < 0) return undefined;
  return deniedRight(message.slice(at + CANNOT.length));
}

function grantedRight({ status }: Pick<StatusError, 'status'>, message: string): MissingRight {
  const { kind = 'roles', name } = status.details ?? {};
  const [, rule] = message.slice(message.indexOf(ESCALATION)).split('\n');
  const held = rule === undefined ? '' : ` that grants ${rule.trim().slice(0, 200)}`;
  return { right: `write ${kind}${name === undefined ? '' : ` "${name}"`}${held}`, profile: 'platform' };
}

/** `patch resource "deployments" in API group "apps" in the namespace "shop"`, or `get path "/metrics"`. */
function deniedRight(words: string): MissingRight | undefined {
  const [verb = '', target = ''] = words.split(' ', 2);
  const quoted = words.split('"');
  const first = quoted.length < 3 ? '' : (quoted[1] ?? '');
  if (first !== '' && target === 'path') return { right: `${verb} ${first}`, profile: 'full' };
  if (target !== 'resource' || first === '') return undefined;
  const group = after(words, 'in API group "');
  const namespace = after(words, 'in the namespace "');
  const resource = group ? `${first}.${group}` : first;
  const right = `${verb} ${resource}${namespace === undefined ? '' : ` in namespace ${namespace}`}`;
  return { right, ...smallestProfile({ verb, resource: first, group: group ?? '', namespace }) };
}

/** What a text says in quotation marks after these words. */
function after(text: string, words: string): string | undefined {
  const at = text.indexOf(words);
  if (at < 0) return undefined;
  const from = at + words.length;
  const end = text.indexOf('"', from);
  return end < 0 ? undefined : text.slice(from, end);
}

interface Denied {
  verb: string;
  resource: string;
  group: string;
  namespace: string | undefined;
}

function smallestProfile({ verb, resource, group, namespace }: Denied): Pick<MissingRight, 'profile' | 'namespace'> {
  const isRole = group === 'rbac.authorization.k8s.io' && ROLE_KINDS.has(resource);
  if (ROLE_VERBS.has(verb) && isRole) return { profile: 'platform' };
  if (!WRITE_VERBS.has(verb)) return { profile: 'full' };
  const isWorkload = WORKLOAD_KINDS.some((kind) => kind.group === group && kind.resources.includes(resource));
  if (!isWorkload || verb === 'deletecollection') return { profile: 'platform' };
  if (namespace === undefined || isSystemNamespace(namespace)) return { profile: 'platform' };
  return { profile: 'workloads', namespace };
}

/** For the people who read why an object is not in a member. Undefined if no profile would change the answer. */
export function forbiddenAdvice(error: Pick<StatusError, 'code' | 'message' | 'status'>): string | undefined {
  const missing = explainForbidden(error);
  if (!missing) return undefined;
  const { right, profile, namespace } = missing;
  const flags =
    namespace === undefined
      ? `--permissions ${profile}`
      : `--permissions ${profile} and ${namespace} in --namespaces, or --permissions platform`;
  return `the account of Asterism in this cluster may not ${right}: the profile ${profile} allows it, so join the cluster again with ${flags}`;
}
