import { CONTROLLER_ROLES, NAMESPACED_CONTROLLER_ROLES } from './controller-policy.ts';
import type { PolicyRule } from './policy-rule.ts';

/** What every cluster grants from its beginning, as Kubernetes 1.36 does: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#default-roles-and-role-bindings */

export interface DefaultRole {
  name: string;
  /** '' for a ClusterRole. */
  namespace: string;
  labels?: Record<string, string>;
  rules?: PolicyRule[];
  /** The role is the sum of all ClusterRoles with this label. */
  aggregates?: string;
}

export interface DefaultBinding {
  name: string;
  namespace: string;
  role: { kind: 'ClusterRole' | 'Role'; name: string };
  users?: string[];
  groups?: string[];
  /** `namespace/name` */
  serviceAccounts?: string[];
}

const AGGREGATE_TO = 'rbac.authorization.k8s.io/aggregate-to-';

/**
 * A rule a line: `verbs | groups | resources | names`, or `verbs | /urls`; lists by commas. The core group is written `core`.
 */
export function parseRules(text: string): PolicyRule[] {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').map(parseRule);
}

function parseRule(line: string): PolicyRule {
  const [verbs = [], first = [], resources = [], names = []] = line
    .split('|')
    .map((column) => column.split(',').map((word) => word.trim()));
  if (first[0]?.startsWith('/') || resources.length === 0) return { verbs, nonResourceURLs: first };
  const apiGroups = first.map((group) => (group === 'core' ? '' : group));
  return { verbs, apiGroups, resources, ...(names.length > 0 ? { resourceNames: names } : {}) };
}

const READ = 'get,list,watch';
const WRITE = 'create,delete,deletecollection,patch,update';
const EVERY_VERB = 'create,delete,deletecollection,get,list,patch,update,watch';
const EVENTS = 'create,patch,update | core,events.k8s.io | events';

const CLUSTER_ROLES: Record<string, string> = {
  'cluster-admin': `
    * | * | *
    * | *`,
  'system:basic-user': `
    create | authorization.k8s.io | selfsubjectaccessreviews,selfsubjectrulesreviews
    create | authentication.k8s.io | selfsubjectreviews`,
  'system:discovery': 'get | /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,/version/',
  'system:public-info-viewer': 'get | /healthz,/livez,/readyz,/version,/version/',
  'system:monitoring': 'get | /healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*',
  'system:service-account-issuer-discovery':
    'get | /.well-known/openid-configuration,/.well-known/openid-configuration/,/openid/v1/jwks,/openid/v1/jwks/',
  'system:auth-delegator': `
    create | authentication.k8s.io | tokenreviews
    create | authorization.k8s.io | subjectaccessreviews`,
  'system:aggregate-to-admin': `
    create | authorization.k8s.io | localsubjectaccessreviews
    ${EVERY_VERB} | rbac.authorization.k8s.io | rolebindings,roles`,
  'system:aggregate-to-edit': `
    ${READ} | core | pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy
    impersonate | core | serviceaccounts
    ${WRITE} | core | pods,pods/attach,pods/exec,pods/portforward,pods/proxy
    create | core | pods/eviction
    ${WRITE} | core | configmaps,events,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy
    create | core | serviceaccounts/token
    ${WRITE} | apps | daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,replicasets/scale,statefulsets,statefulsets/scale
    ${WRITE} | autoscaling | horizontalpodautoscalers
    ${WRITE} | batch | cronjobs,jobs
    ${WRITE} | policy | poddisruptionbudgets
    ${WRITE} | networking.k8s.io | ingresses,networkpolicies
    ${EVERY_VERB} | coordination.k8s.io | leases`,
  'system:aggregate-to-view': `
    ${READ} | core | configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status
    ${READ} | core | bindings,events,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,resourcequotas,resourcequotas/status
    ${READ} | core | namespaces
    ${READ} | discovery.k8s.io | endpointslices
    ${READ} | apps | controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,statefulsets/scale,statefulsets/status
    ${READ} | autoscaling | horizontalpodautoscalers,horizontalpodautoscalers/status
    ${READ} | batch | cronjobs,cronjobs/status,jobs,jobs/status
    ${READ} | policy | poddisruptionbudgets,poddisruptionbudgets/status
    ${READ} | networking.k8s.io | ingresses,ingresses/status,networkpolicies`,
  'system:heapster': `
    ${READ} | core | events,namespaces,nodes,pods
    ${READ} | extensions | deployments`,
  'system:kube-dns': 'list,watch | core | endpoints,services',
  'system:kubelet-api-admin': `
    ${READ} | core | nodes
    proxy | core | nodes
    * | core | nodes/log,nodes/metrics,nodes/proxy,nodes/stats`,
  'system:node-bootstrapper': 'create,get,list,watch | certificates.k8s.io | certificatesigningrequests',
  'system:node-problem-detector': `
    get | core | nodes
    patch | core | nodes/status
    ${EVENTS}`,
  'system:node-proxier': `
    list,watch | core | services
    ${READ} | core | nodes
    ${EVENTS}
    list,watch | discovery.k8s.io | endpointslices
    list,watch | networking.k8s.io | servicecidrs`,
  'system:persistent-volume-provisioner': `
    create,delete,get,list,watch | core | persistentvolumes
    get,list,update,watch | core | persistentvolumeclaims
    ${READ} | storage.k8s.io | storageclasses
    watch | core | events
    ${EVENTS}`,
  'system:volume-scheduler': `
    get,list,patch,update,watch | core | persistentvolumes
    ${READ} | storage.k8s.io | storageclasses
    get,list,patch,update,watch | core | persistentvolumeclaims`,
  'system:kube-scheduler': `
    ${EVENTS}
    create | coordination.k8s.io | leases
    get,list,update,watch | coordination.k8s.io | leases | kube-scheduler
    ${READ} | core | nodes
    delete,get,list,watch | core | pods
    create | core | bindings,pods/binding
    patch,update | core | pods/status
    ${READ} | core | namespaces,persistentvolumeclaims,persistentvolumes,replicationcontrollers,services
    ${READ} | apps | replicasets,statefulsets
    ${READ} | policy | poddisruptionbudgets
    create | authentication.k8s.io | tokenreviews
    create | authorization.k8s.io | subjectaccessreviews
    ${READ} | storage.k8s.io | csidrivers,csinodes,csistoragecapacities,volumeattachments`,
  'system:kube-controller-manager': `
    ${EVENTS}
    create | coordination.k8s.io | leases
    get,list,update,watch | coordination.k8s.io | leases | kube-controller-manager
    create | core | secrets,serviceaccounts
    delete | core | secrets
    get | core | configmaps,namespaces,secrets,serviceaccounts
    update | core | secrets,serviceaccounts
    create | authentication.k8s.io | tokenreviews
    create | authorization.k8s.io | subjectaccessreviews
    list,watch | * | *
    create | core | serviceaccounts/token`,
  'system:certificates.k8s.io:certificatesigningrequests:nodeclient':
    'create | certificates.k8s.io | certificatesigningrequests/nodeclient',
  'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient':
    'create | certificates.k8s.io | certificatesigningrequests/selfnodeclient',
  'system:certificates.k8s.io:kube-apiserver-client-approver':
    'approve | certificates.k8s.io | signers | kubernetes.io/kube-apiserver-client',
  'system:certificates.k8s.io:kube-apiserver-client-kubelet-approver':
    'approve | certificates.k8s.io | signers | kubernetes.io/kube-apiserver-client-kubelet',
  'system:certificates.k8s.io:kubelet-serving-approver':
    'approve | certificates.k8s.io | signers | kubernetes.io/kubelet-serving',
};

const NODE_RULES = `
  create | authentication.k8s.io | tokenreviews
  create | authorization.k8s.io | localsubjectaccessreviews,subjectaccessreviews
  ${READ} | core | services
  create,get,list,watch | core | nodes
  patch,update | core | nodes/status
  patch,update | core | nodes
  create,patch,update | core,events.k8s.io | events
  ${READ} | core | pods
  create,delete | core | pods
  patch,update | core | pods/status
  create | core | pods/eviction
  ${READ} | core | configmaps,secrets
  get | core | persistentvolumeclaims,persistentvolumes
  get | core | endpoints
  create,get,list,watch | certificates.k8s.io | certificatesigningrequests
  create,delete,get,patch,update | coordination.k8s.io | leases
  get | storage.k8s.io | volumeattachments
  create | core | serviceaccounts/token
  get,patch,update | core | persistentvolumeclaims/status
  ${READ} | storage.k8s.io | csidrivers
  create,delete,get,patch,update | storage.k8s.io | csinodes
  ${READ} | node.k8s.io | runtimeclasses`;

const CONTROLLER = 'system:controller:';
const AUTHENTICATION_READER = 'extension-apiserver-authentication-reader';

export function defaultRoles(): DefaultRole[] {
  const labels: Record<string, Record<string, string>> = {
    'system:aggregate-to-admin': { [`${AGGREGATE_TO}admin`]: 'true' },
    'system:aggregate-to-edit': { [`${AGGREGATE_TO}edit`]: 'true' },
    'system:aggregate-to-view': { [`${AGGREGATE_TO}view`]: 'true' },
  };
  return [
    { name: 'admin', namespace: '', aggregates: `${AGGREGATE_TO}admin` },
    { name: 'edit', namespace: '', aggregates: `${AGGREGATE_TO}edit`, labels: { [`${AGGREGATE_TO}admin`]: 'true' } },
    { name: 'view', namespace: '', aggregates: `${AGGREGATE_TO}view`, labels: { [`${AGGREGATE_TO}edit`]: 'true' } },
    ...Object.entries({ ...CLUSTER_ROLES, 'system:node': NODE_RULES }).map(([name, rules]) => ({
      name,
      namespace: '',
      rules: parseRules(rules),
      ...(labels[name] === undefined ? {} : { labels: labels[name] }),
    })),
    ...Object.entries(CONTROLLER_ROLES).map(([name, rules]) => ({
      name: `${CONTROLLER}${name}`,
      namespace: '',
      rules: parseRules(rules),
    })),
    ...NAMESPACED_CONTROLLER_ROLES.map(({ name, namespace, rules }) => ({ name, namespace, rules: parseRules(rules) })),
    {
      name: AUTHENTICATION_READER,
      namespace: 'kube-system',
      rules: parseRules(`${READ} | core | configmaps | extension-apiserver-authentication`),
    },
  ];
}

export function defaultBindings(): DefaultBinding[] {
  const cluster = (name: string, subjects: Pick<DefaultBinding, 'users' | 'groups' | 'serviceAccounts'>) => ({
    name,
    namespace: '',
    role: { kind: 'ClusterRole' as const, name },
    ...subjects,
  });
  return [
    cluster('cluster-admin', { groups: ['system:masters'] }),
    cluster('system:basic-user', { groups: ['system:authenticated'] }),
    cluster('system:discovery', { groups: ['system:authenticated'] }),
    cluster('system:public-info-viewer', { groups: ['system:authenticated', 'system:unauthenticated'] }),
    cluster('system:monitoring', { groups: ['system:monitoring'] }),
    cluster('system:service-account-issuer-discovery', { groups: ['system:serviceaccounts'] }),
    cluster('system:kube-dns', { serviceAccounts: ['kube-system/kube-dns'] }),
    cluster('system:node-proxier', { users: ['system:kube-proxy'] }),
    cluster('system:kube-scheduler', { users: ['system:kube-scheduler'] }),
    cluster('system:volume-scheduler', { users: ['system:kube-scheduler'] }),
    cluster('system:kube-controller-manager', { users: ['system:kube-controller-manager'] }),
    cluster('system:node', {}),
    ...Object.keys(CONTROLLER_ROLES).map((name) =>
      cluster(`${CONTROLLER}${name}`, { serviceAccounts: [`kube-system/${name}`] }),
    ),
    ...NAMESPACED_CONTROLLER_ROLES.map(({ name, namespace, users, serviceAccounts }) => ({
      name,
      namespace,
      role: { kind: 'Role' as const, name },
      ...(users && { users }),
      serviceAccounts,
    })),
    {
      name: `system::${AUTHENTICATION_READER}`,
      namespace: 'kube-system',
      role: { kind: 'Role', name: AUTHENTICATION_READER },
      users: ['system:kube-controller-manager', 'system:kube-scheduler'],
    },
  ];
}
