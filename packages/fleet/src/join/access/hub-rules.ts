import type { PolicyRule } from '@asterism/machinery';
import {
  API_SERVICES,
  CALLERS_CONFIG_MAP,
  CREDENTIAL_SECRET,
  GROUP,
  HEARTBEAT_LEASE,
  HUB_REPLICAS_SERVICE,
  HUB_SERVICE,
  PROXY_GROUP,
  TEMPLATES_CONFIG_MAP,
} from '../../api/index.ts';
import { CLIENT_SIGNER } from '../registration/agent-request-fault.ts';

const RBAC = 'rbac.authorization.k8s.io';
const READ = ['get', 'list', 'watch'];

const rule = (group: string, resources: string[], verbs: string[], resourceNames?: string[]): PolicyRule => ({
  apiGroups: [group],
  resources,
  verbs,
  ...(resourceNames ? { resourceNames } : {}),
});

/** What the hub's controllers read and write of its own kinds. */
const OWN_KINDS: PolicyRule[] = [
  rule(GROUP, ['clusters'], [...READ, 'create', 'update', 'patch']),
  rule(GROUP, ['clusters/status'], ['get', 'patch', 'update']),
  rule(GROUP, ['clusterregistrations'], [...READ, 'delete']),
  rule(GROUP, ['clusterregistrations/status'], ['update']),
  rule(GROUP, ['hubconfigurations'], READ),
  rule(GROUP, ['hubconfigurations/status'], ['update']),
  rule(
    GROUP,
    ['propagationpolicies', 'clusterpropagationpolicies', 'overridepolicies', 'clusteroverridepolicies'],
    READ,
  ),
  rule(GROUP, ['propagationpolicies/status', 'clusterpropagationpolicies/status'], ['patch']),
  rule(GROUP, ['resourcebindings', 'clusterresourcebindings', 'works'], [...READ, 'create', 'patch', 'delete']),
  rule(GROUP, ['resourcebindings/status', 'clusterresourcebindings/status'], ['patch']),
  rule(GROUP, ['works/status'], ['get', 'patch', 'update']),
];

/**
 * What letting a cluster in takes. Nobody gives rights that he has not: so the hub has those of an agent, `clusters/attach`
 * among them, which the tunnel's end refuses to all but the agent itself, and to ask for certificates. `create` and the names of
 * ClusterRoles cannot be narrowed: RBAC knows no prefixes.
 */
const LETTING_IN: PolicyRule[] = [
  rule('certificates.k8s.io', ['certificatesigningrequests'], [...READ, 'create']),
  rule('certificates.k8s.io', ['certificatesigningrequests/approval'], ['update']),
  rule('certificates.k8s.io', ['signers'], ['approve'], [CLIENT_SIGNER]),
  rule('', ['namespaces'], ['get', 'create', 'update']),
  rule('', ['secrets'], ['create']),
  rule('', ['secrets'], [...READ, 'update', 'patch'], [CREDENTIAL_SECRET]),
  rule('', ['configmaps'], ['create']),
  rule('', ['configmaps'], [...READ, 'patch'], [CALLERS_CONFIG_MAP]),
  rule('coordination.k8s.io', ['leases'], ['create']),
  rule('coordination.k8s.io', ['leases'], [...READ, 'update', 'patch'], [HEARTBEAT_LEASE]),
  rule(RBAC, ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'], [...READ, 'create', 'update']),
  rule(PROXY_GROUP, ['clusters/attach'], ['create', 'get']),
];

/** Installing the kinds, and the routes that the hub's process serves. Others' definitions are read: what is served follows from them. */
function installing(definitions: string[]): PolicyRule[] {
  return [
    rule('apiextensions.k8s.io', ['customresourcedefinitions'], READ),
    rule('apiextensions.k8s.io', ['customresourcedefinitions'], ['create', 'update', 'patch'], definitions),
    rule('apiregistration.k8s.io', ['apiservices'], ['create']),
    rule('apiregistration.k8s.io', ['apiservices'], [...READ, 'update', 'patch'], [...API_SERVICES]),
  ];
}

/** Templates may be of any kind. `finalizers` is what an owner's dependants need where that is enforced (OpenShift). */
const TEMPLATES_HERE: PolicyRule[] = [
  rule('*', ['*'], READ),
  rule('*', ['*/status'], ['patch']),
  rule('*', ['*/finalizers'], ['update']),
];

/** Passing calls on as their callers, of whom no list can be made. */
const FORWARDING: PolicyRule[] = [
  rule('', ['users', 'groups', 'serviceaccounts'], ['impersonate']),
  rule('authentication.k8s.io', ['*'], ['impersonate']),
];

/** The rules for the whole API server. `definitions` are the names of the hub's CustomResourceDefinitions. */
export function hubRules(templates: 'host' | 'embedded', definitions: string[]): PolicyRule[] {
  const byForm = templates === 'host' ? TEMPLATES_HERE : FORWARDING;
  return [...OWN_KINDS, ...LETTING_IN, ...installing(definitions), ...byForm];
}

/** The rules within `asterism-system`: where the hub's processes are, which one leads, and which store the templates are in. */
export function hubSystemRules(): PolicyRule[] {
  return [
    rule('', ['services', 'endpoints', 'configmaps'], ['create']),
    rule('', ['services', 'endpoints'], [...READ, 'update', 'patch', 'delete'], [HUB_SERVICE, HUB_REPLICAS_SERVICE]),
    rule('', ['configmaps'], ['get', 'update', 'patch', 'delete'], [TEMPLATES_CONFIG_MAP]),
    // Each process has one under a name of its own: RBAC knows no prefixes.
    rule('coordination.k8s.io', ['leases'], [...READ, 'create', 'update', 'patch', 'delete']),
  ];
}
