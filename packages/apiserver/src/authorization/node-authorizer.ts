import {
  isNotFound,
  type KubeObject,
  RESOURCE_SLICES,
  type ResourceType,
  VOLUME_ATTACHMENTS,
} from '@asterism/machinery';
import type { Registry } from '../registry/registry.ts';
import { SYSTEM_MASTERS } from '../contract/user-info.ts';
import type { AuthorizationAttributes, AuthorizationDecision, Authorizer } from '../contract/authorizer.ts';
import { defaultRoles } from './default-policy.ts';
import { NodeGraph } from './node-graph.ts';
import { nodeNameOf } from '../contract/node-identity.ts';
import { fieldsOf, type ReferencedResource, referenceKey, textOf } from './node-references.ts';
import { type PolicyRule, ruleAllows } from './policy-rule.ts';

const ALLOWED: AuthorizationDecision = { allowed: true, reason: '' };
const NO_OPINION: AuthorizationDecision = { allowed: false, reason: '' };
const LEASE_NAMESPACE = 'kube-node-lease';
const OWN_OBJECT_VERBS = new Set(['get', 'create', 'update', 'patch', 'delete']);

type Judge = (
  node: string,
  attributes: AuthorizationAttributes,
) => AuthorizationDecision | Promise<AuthorizationDecision>;

/**
 * What nodes may do (upstream's Node authorizer): read what the pods that are bound to them need, and write about themselves.
 * Whatever it does not allow, and everybody who is no node, is for `next` to judge; where that refuses too, both reasons are
 * told.
 * https://kubernetes.io/docs/reference/access-authn-authz/node/
 */
export class NodeAuthorizer implements Authorizer {
  readonly #registry: Registry;
  readonly #graph: NodeGraph;
  readonly #next: Authorizer;
  readonly #judges: Readonly<Record<string, Judge>>;
  #rules: readonly PolicyRule[] | undefined;

  constructor(options: { registry: Registry; next: Authorizer; signal: AbortSignal }) {
    this.#registry = options.registry;
    this.#next = options.next;
    this.#graph = new NodeGraph(options.registry, options.signal);
    const related = (resource: ReferencedResource): Judge => this.#related(resource);
    this.#judges = {
      '/secrets': readOnly(related('secrets')),
      '/configmaps': readOnly(related('configmaps')),
      '/persistentvolumeclaims': claimJudge(related('persistentvolumeclaims')),
      '/persistentvolumes': getOnly((node, attributes) => this.#volume(node, attributes)),
      'storage.k8s.io/volumeattachments': getOnly((node, attributes) =>
        this.#ofNode(VOLUME_ATTACHMENTS, node, attributes),
      ),
      'resource.k8s.io/resourceclaims': getOnly(related('resourceclaims')),
      '/serviceaccounts': tokenJudge(related('serviceaccounts')),
      '/nodes': judgeNode,
      '/pods': (node, attributes) => this.#pod(node, attributes),
      'coordination.k8s.io/leases': judgeLease,
      'storage.k8s.io/csinodes': judgeCsiNode,
      'resource.k8s.io/resourceslices': (node, attributes) => this.#slice(node, attributes),
    };
  }

  authorize(attributes: AuthorizationAttributes): AuthorizationDecision | Promise<AuthorizationDecision> {
    const node = nodeNameOf(attributes.user);
    if (node === undefined || attributes.user.groups.includes(SYSTEM_MASTERS)) return this.#next.authorize(attributes);
    return this.#authorizeNode(node, attributes);
  }

  async #authorizeNode(node: string, attributes: AuthorizationAttributes): Promise<AuthorizationDecision> {
    const own = await this.#judge(node, attributes);
    if (own.allowed) return own;
    const other = await this.#next.authorize(attributes);
    if (other.allowed) return other;
    return { allowed: false, reason: [own.reason, other.reason].filter((reason) => reason !== '').join('\n') };
  }

  async #judge(node: string, attributes: AuthorizationAttributes): Promise<AuthorizationDecision> {
    if (node === '') return refusal(`unknown node for user ${JSON.stringify(attributes.user.username)}`);
    const { group = '', resource } = attributes;
    const judge = resource === undefined ? undefined : this.#judges[`${group}/${resource}`];
    if (judge !== undefined) return await judge(node, attributes);
    this.#rules ??= defaultRoles().find(({ name }) => name === 'system:node')?.rules ?? [];
    return this.#rules.some((rule) => ruleAllows(rule, attributes)) ? ALLOWED : NO_OPINION;
  }

  #related(resource: ReferencedResource): Judge {
    return async (node, { namespace = '', name = '' }) => {
      if (name === '') return refusal('No Object name found');
      await this.#graph.ready();
      return this.#graph.refersTo(node, referenceKey(resource, namespace, name)) ? ALLOWED : unrelated(node);
    };
  }

  async #volume(node: string, { name = '' }: AuthorizationAttributes): Promise<AuthorizationDecision> {
    if (name === '') return refusal('No Object name found');
    await this.#graph.ready();
    return this.#graph.usesVolume(node, name) ? ALLOWED : unrelated(node);
  }

  async #pod(node: string, attributes: AuthorizationAttributes): Promise<AuthorizationDecision> {
    const { verb, subresource = '', namespace = '', name = '' } = attributes;
    if (subresource === 'status') return isOneOf(verb, 'update', 'patch') ? ALLOWED : NO_OPINION;
    if (subresource === 'eviction') return verb === 'create' ? ALLOWED : NO_OPINION;
    if (subresource !== '') return NO_OPINION;
    if (isOneOf(verb, 'create', 'delete')) return ALLOWED;
    if (!isOneOf(verb, 'get', 'list', 'watch')) return NO_OPINION;
    if (verb !== 'get' && selectsOnly(attributes, node)) return ALLOWED;
    if (name === '') {
      return refusal(
        verb === 'get' ? 'No Object name found' : 'can only list/watch pods with spec.nodeName field selector',
      );
    }
    await this.#graph.ready();
    return this.#graph.hasPod(node, namespace, name) ? ALLOWED : unrelated(node);
  }

  async #slice(node: string, attributes: AuthorizationAttributes): Promise<AuthorizationDecision> {
    const { verb, subresource = '' } = attributes;
    if (subresource !== '') return refusal('cannot authorize ResourceSlice subresources');
    if (verb === 'create') return ALLOWED;
    if (isOneOf(verb, 'get', 'update', 'patch', 'delete')) {
      return await this.#ofNode(RESOURCE_SLICES, node, attributes);
    }
    if (!isOneOf(verb, 'list', 'watch', 'deletecollection'))
      return refusal('unsupported request verb for ResourceSlice');
    return selectsOnly(attributes, node)
      ? ALLOWED
      : refusal('can only list/watch/deletecollection resourceslices with nodeName field selector');
  }

  /** An object that names the node itself. */
  async #ofNode(
    type: Pick<ResourceType, 'group' | 'version' | 'resource'>,
    node: string,
    { name = '' }: AuthorizationAttributes,
  ): Promise<AuthorizationDecision> {
    if (name === '') return refusal('No Object name found');
    const resource = this.#registry.find(type.group, type.version, type.resource);
    if (resource === undefined) return unrelated(node);
    let object: KubeObject;
    try {
      object = (await this.#registry.get(resource, { name })).parse();
    } catch (error) {
      if (isNotFound(error)) return unrelated(node);
      throw error;
    }
    return textOf(fieldsOf(object.spec), 'nodeName') === node ? ALLOWED : unrelated(node);
  }
}

function refusal(reason: string): AuthorizationDecision {
  return { allowed: false, reason };
}

function unrelated(node: string): AuthorizationDecision {
  return refusal(`no relationship found between node '${node}' and this object`);
}

function isOneOf(verb: string, ...verbs: readonly string[]): boolean {
  return verbs.includes(verb);
}

/** Whether a list or a watch is limited to what names the node. */
function selectsOnly({ fieldSelector = [] }: AuthorizationAttributes, node: string): boolean {
  return fieldSelector.some(
    ({ path, operator, value }) => path === 'spec.nodeName' && operator === '=' && value === node,
  );
}

function readOnly(judge: Judge): Judge {
  return (node, attributes) => {
    const { verb, subresource = '', namespace = '' } = attributes;
    if (!isOneOf(verb, 'get', 'list', 'watch')) return refusal('can only read resources of this type');
    if (subresource !== '') return refusal('cannot read subresource');
    if (namespace === '') return refusal('can only read namespaced object of this type');
    return judge(node, attributes);
  };
}

function getOnly(judge: Judge): Judge {
  return (node, attributes) => {
    if (attributes.verb !== 'get') return refusal('can only get individual resources of this type');
    if ((attributes.subresource ?? '') !== '') return refusal('cannot get subresource');
    return judge(node, attributes);
  };
}

function claimJudge(judge: Judge): Judge {
  const get = getOnly(judge);
  return (node, attributes) => {
    if (attributes.subresource !== 'status') return get(node, attributes);
    if (!isOneOf(attributes.verb, 'get', 'update', 'patch')) return refusal('can only get/update/patch this type');
    return judge(node, attributes);
  };
}

function tokenJudge(judge: Judge): Judge {
  return (node, attributes) => {
    const { verb, subresource, name = '' } = attributes;
    if (verb === 'get' && (subresource ?? '') === '') return judge(node, attributes);
    if (verb !== 'create' || name === '') return refusal('can only create tokens for individual service accounts');
    if (subresource !== 'token') return refusal('can only create token subresource of serviceaccount');
    return judge(node, attributes);
  };
}

function judgeNode(
  node: string,
  { verb, subresource = '', name = '' }: AuthorizationAttributes,
): AuthorizationDecision {
  if (subresource === 'status') return isOneOf(verb, 'update', 'patch') ? ALLOWED : NO_OPINION;
  if (subresource !== '') return NO_OPINION;
  // Which node is written is for admission to see: the name of a new one is not known here.
  if (isOneOf(verb, 'create', 'update', 'patch')) return ALLOWED;
  if (!isOneOf(verb, 'get', 'list', 'watch')) return NO_OPINION;
  if (name === node) return ALLOWED;
  const wanted = name === '' ? 'all nodes' : `'${name}'`;
  return refusal(`node '${node}' cannot read ${wanted}, only its own Node object`);
}

function judgeLease(node: string, { verb, namespace, name }: AuthorizationAttributes): AuthorizationDecision {
  if (!OWN_OBJECT_VERBS.has(verb)) return refusal('can only get, create, update, patch, or delete a node lease');
  if (namespace !== LEASE_NAMESPACE) {
    return refusal(`can only access leases in the "${LEASE_NAMESPACE}" system namespace`);
  }
  if (verb !== 'create' && name !== node) {
    return refusal('can only access node lease with the same name as the requesting node');
  }
  return ALLOWED;
}

function judgeCsiNode(node: string, { verb, subresource = '', name }: AuthorizationAttributes): AuthorizationDecision {
  if (!OWN_OBJECT_VERBS.has(verb)) return refusal('can only get, create, update, patch, or delete a CSINode');
  if (subresource !== '') return refusal('cannot authorize CSINode subresources');
  if (verb !== 'create' && name !== node) {
    return refusal('can only access CSINode with the same name as the requesting node');
  }
  return ALLOWED;
}
