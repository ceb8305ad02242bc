import { VERSION } from './kinds.ts';

/** Every name, label and annotation that Asterism gives to things. */

/** What the fleet is run from: tokens' roles, the hub's Leases. */
export const SYSTEM_NAMESPACE = 'asterism-system';

/** The longest name of a cluster: its namespace must still be a DNS label. */
export const MAX_CLUSTER_NAME = 46;

const CLUSTER_NAMESPACE_PREFIX = 'asterism-cluster-';

/** The namespace in the hub that belongs to one cluster alone: its Works, its Lease, its Secrets. */
export function clusterNamespace(clusterName: string): string {
  return `${CLUSTER_NAMESPACE_PREFIX}${clusterName}`;
}

/** The inverse of {@link clusterNamespace}; undefined where the namespace is not a cluster's. */
export function clusterOfNamespace(namespace: string): string | undefined {
  return namespace.startsWith(CLUSTER_NAMESPACE_PREFIX) ? namespace.slice(CLUSTER_NAMESPACE_PREFIX.length) : undefined;
}

/** The user name (CN) of a cluster's agent, and the group (O) that all agents share. */
export const AGENTS_GROUP = 'asterism:agents';
export function agentUser(clusterName: string): string {
  return `asterism:agent:${clusterName}`;
}

/** The inverse of {@link agentUser}; undefined for anybody else. */
export function agentOfUser(username: string): string | undefined {
  const prefix = agentUser('');
  return username.startsWith(prefix) ? username.slice(prefix.length) : undefined;
}

/**
 * The group (O) of whoever holds one key, by its pin (`sha256:` and hex). An agent's rights in the hub are this group's, not the
 * name's: they end when its Cluster is bound to another key, and a name that is given again brings nothing with it.
 */
export function agentKeyGroup(pin: string): string {
  return `asterism:agent-key:${Buffer.from(pin.replace('sha256:', ''), 'hex').toString('base64url')}`;
}

/** Whom an agent's certificate names: its cluster, all agents, and its key. */
export function agentSubject(clusterName: string, pin: string): { commonName: string; organizations: string[] } {
  return { commonName: agentUser(clusterName), organizations: [AGENTS_GROUP, agentKeyGroup(pin)] };
}

/** Groups of bootstrap tokens: may ask to join; and is approved without asking a person. */
export const REGISTER_GROUP = 'system:bootstrappers:asterism:register';
export const AUTO_APPROVE_GROUP = 'system:bootstrappers:asterism:auto-approve';
/** As the first, in tokens that were made for Clusternet: they let a cluster ask, and promise nothing. */
export const CLUSTERNET_REGISTER_GROUP = 'system:bootstrappers:clusternet:register-cluster-token';

/** A token of this group and a cluster's name may ask to join that cluster alone. */
export const CLUSTER_TOKEN_GROUP_PREFIX = 'system:bootstrappers:asterism:cluster:';

/** Groups of this prefix carry the labels, provider, region and zones that a token gives to a cluster. */
export const TOKEN_FACTS_GROUP_PREFIX = 'system:bootstrappers:asterism:facts:';

/** The group (O) of those who run the fleet: everything in the hub is theirs. */
export const ADMINS_GROUP = 'asterism:admins';

const RESERVED_LABEL = /^([a-z0-9.-]+\.)?asterism\.dev\//;

/** Whether the label says what the hub knows or does: never an agent's to set. */
export function isReservedLabel(key: string): boolean {
  return RESERVED_LABEL.test(key);
}

/** The verb on `clusters` that a policy's author needs to place in them. */
export const PLACE_VERB = 'place';

/** On a policy: who wrote it, as JSON. Only admission of an embedded hub writes it. */
export const AUTHOR_ANNOTATION = 'asterism.dev/author';

/** On an agent's CertificateSigningRequest: the digest of the registration that it was made for. */
export const REGISTRATION_DIGEST_ANNOTATION = 'asterism.dev/registration-digest';

/** The one HubConfiguration that is looked at. */
export const HUB_CONFIGURATION = 'hub';

/** On what the hub makes for a cluster: the cluster's name. */
export const CLUSTER_LABEL = 'asterism.dev/cluster';

/** In a member, in {@link SYSTEM_NAMESPACE}: who the agent is there, who a hub that dials is, and the agent's key. */
export const AGENT_SERVICE_ACCOUNT = 'asterism-agent';
export const HUB_SERVICE_ACCOUNT = 'asterism-hub';
export const AGENT_CREDENTIAL_SECRET = 'agent-credential';

/** There too: what an agent that runs as a pod asks to join with: the token and, where no pin is enough, the hub's CA. */
export const AGENT_BOOTSTRAP_SECRET = 'agent-bootstrap';

/** Beside it: the address of the agent's proxy, where that holds a password. */
export const AGENT_PROXY_SECRET = 'agent-proxy';

/** On what joining makes in a member, so that leaving takes out that and nothing else. Value: {@link MADE_BY_JOIN}. */
export const MADE_BY_LABEL = 'asterism.dev/made-by';
export const MADE_BY_JOIN = 'join';

/** On a Cluster that is to leave in order: it stays until all that was placed, and what its join made, is out of the member. */
export const LEAVE_FINALIZER = 'asterism.dev/leave';
/** On such a Cluster: what becomes of what was placed in it. Value: a `LeaveMode`. */
export const LEAVE_ANNOTATION = 'asterism.dev/leave';

/** The Lease by which an agent says that it is alive, in its cluster's namespace. */
export const HEARTBEAT_LEASE = 'agent';

/** The Secret with the hub's credential in a Push cluster, in the cluster's namespace: `token`, `tls.crt` with `tls.key`, or all three. */
export const CREDENTIAL_SECRET = 'hub-credential';

/** On a Cluster without an agent whose credential was given by a person: {@link GIVEN_CREDENTIAL}; the hub does not renew it. */
export const CREDENTIAL_ANNOTATION = 'asterism.dev/credential';
export const GIVEN_CREDENTIAL = 'given';
/** The ConfigMap in a cluster's namespace of the hub that says who comes to it through the hub (key `callers.json`). */
export const CALLERS_CONFIG_MAP = 'callers';

/** The ClusterRole, and its binding, in a member: as whom its agent, or the hub, may come there. */
export const CALLERS_ROLE = 'asterism:callers';
/** On that ClusterRole: an administrator of the member names the callers, and the hub's list does not count. */
export const FIXED_CALLERS_ANNOTATION = 'asterism.dev/fixed-callers';

/** The field manager of everything that Asterism applies in a member. */
export const FIELD_MANAGER = 'asterism';

/** On a Namespace of a member that was there before it was taken over: it is let go of rather than deleted. */
export const ADOPTED_ANNOTATION = 'asterism.dev/adopted';

/** On everything that Asterism placed in a member: only what carries it is ever pruned. Value: the Work's name. */
export const MANAGED_LABEL = 'asterism.dev/managed';
/** On a template, with the value `true`: what it says of replicas is for the beginning, and each member has its own number from then on. */
export const RETAIN_REPLICAS_LABEL = 'asterism.dev/retain-replicas';
/** On Works and bindings: the uid of the template's binding, and the template's key. */
export const BINDING_UID_LABEL = 'asterism.dev/binding-uid';
/**
 * On a Namespace of the hub's API server that was made because a template elsewhere has its binding there. Value:
 * {@link MADE_FOR_TEMPLATES}. It is not {@link MANAGED_LABEL}: were that API server a member too, nothing placed may take or prune it.
 */
export const MADE_FOR_LABEL = 'asterism.dev/made-for';
export const MADE_FOR_TEMPLATES = 'templates';
/** Taints of a cluster that the hub sets itself. */
export const UNREACHABLE_TAINT = 'asterism.dev/unreachable';
export const NOT_READY_TAINT = 'asterism.dev/not-ready';

/** Routes that are domain rather than kinds: aggregated on an existing kube-apiserver, served inside in the embedded hub. */
export const PROXY_GROUP = 'proxy.asterism.dev';
export const SEARCH_GROUP = 'search.asterism.dev';

/** In {@link SYSTEM_NAMESPACE} of an existing kube-apiserver: where a hub that leads is found, and the APIServices that lead to it. */
export const HUB_SERVICE = 'asterism-hub';
/** The same for all processes of a hub, where all of them take calls. */
export const HUB_REPLICAS_SERVICE = 'asterism-hub-replicas';
export const API_SERVICES: readonly string[] = [`${VERSION}.${PROXY_GROUP}`, `${VERSION}.${SEARCH_GROUP}`];

/** The Lease in {@link SYSTEM_NAMESPACE} of the hub that leads. */
export const HUB_LEASE = 'asterism-hub';

/** On the Leases in {@link SYSTEM_NAMESPACE} by which the hub's processes know each other. Value: the process's id. */
export const HUB_REPLICA_LABEL = 'asterism.dev/hub-replica';

/** The ConfigMap in {@link SYSTEM_NAMESPACE} that says which store holds the templates. */
export const TEMPLATES_CONFIG_MAP = 'templates';

/** Below this path of the hub stands the API server of a member. */
export function memberProxyPath(clusterName: string): string {
  return `/apis/${PROXY_GROUP}/${VERSION}/clusters/${encodeURIComponent(clusterName)}/proxy`;
}

/** Below this path of the hub stands a server behind the agent of a member: `origin` is `https://host:port`, or `http://`. */
export function destinationProxyPath(clusterName: string, origin: string): string {
  const { protocol, host } = new URL(origin);
  return `/apis/${PROXY_GROUP}/${VERSION}/destinations/${encodeURIComponent(clusterName)}/proxy/${protocol.slice(0, -1)}/${host}`;
}

/** Below this path of the hub stand the resources of all members, as if they were one cluster's. */
export const SEARCH_PATH = `/apis/${SEARCH_GROUP}/${VERSION}/resources`;
