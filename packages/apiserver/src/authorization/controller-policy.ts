/**
 * What each controller of kube-controller-manager may do, under its own service account in `kube-system`, as in Kubernetes
 * 1.36: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#controller-roles. Rules are written as for `parseRules`.
 */

const READ = 'get,list,watch';
const EVENTS = 'create,patch,update | core,events.k8s.io | events';

/** ClusterRoles `system:controller:NAME`, each bound to the service account NAME. */
export const CONTROLLER_ROLES: Readonly<Record<string, string>> = {
  'attachdetach-controller': `
    list,watch | core | persistentvolumeclaims,persistentvolumes
    ${READ} | core | nodes
    patch,update | core | nodes/status
    list,watch | core | pods
    ${EVENTS}
    create,delete,get,list,watch | storage.k8s.io | volumeattachments
    ${READ} | storage.k8s.io | csidrivers
    ${READ} | storage.k8s.io | csinodes`,
  'certificate-controller': `
    delete,get,list,watch | certificates.k8s.io | certificatesigningrequests
    update | certificates.k8s.io | certificatesigningrequests/approval,certificatesigningrequests/status
    approve | certificates.k8s.io | signers | kubernetes.io/kube-apiserver-client-kubelet
    sign | certificates.k8s.io | signers | kubernetes.io/kube-apiserver-client,kubernetes.io/kube-apiserver-client-kubelet,kubernetes.io/kubelet-serving,kubernetes.io/legacy-unknown
    create | authorization.k8s.io | subjectaccessreviews
    ${EVENTS}`,
  'clusterrole-aggregation-controller':
    'escalate,get,list,patch,update,watch | rbac.authorization.k8s.io | clusterroles',
  'cronjob-controller': `
    get,list,update,watch | batch | cronjobs
    create,delete,get,list,patch,update,watch | batch | jobs
    update | batch | cronjobs/status
    update | batch | cronjobs/finalizers
    delete,list,watch | core | pods
    ${EVENTS}`,
  'daemon-set-controller': `
    ${READ} | apps,extensions | daemonsets
    update | apps,extensions | daemonsets/status
    update | apps,extensions | daemonsets/finalizers
    list,watch | core | nodes
    create,delete,list,patch,watch | core | pods
    create | core | pods/binding
    create,delete,get,list,patch,update,watch | apps | controllerrevisions
    ${EVENTS}`,
  'deployment-controller': `
    get,list,update,watch | apps,extensions | deployments
    update | apps,extensions | deployments/status
    update | apps,extensions | deployments/finalizers
    create,delete,get,list,patch,update,watch | apps,extensions | replicasets
    get,list,update,watch | core | pods
    ${EVENTS}`,
  'disruption-controller': `
    ${READ} | apps,extensions | deployments
    ${READ} | apps,extensions | replicasets
    ${READ} | core | replicationcontrollers
    ${READ} | policy | poddisruptionbudgets
    ${READ} | apps | statefulsets
    update | policy | poddisruptionbudgets/status
    patch,update | core | pods/status
    get | * | */scale
    ${EVENTS}`,
  'endpoint-controller': `
    ${READ} | core | pods,services
    create,delete,get,list,update,watch | core | endpoints
    create | core | endpoints/restricted
    ${EVENTS}`,
  'endpointslice-controller': `
    ${READ} | core | nodes,pods,services
    update | core | services/finalizers
    create,delete,get,list,update,watch | discovery.k8s.io | endpointslices
    ${EVENTS}`,
  'endpointslicemirroring-controller': `
    ${READ} | core | endpoints,services
    update | core | services/finalizers
    update | core | endpoints/finalizers
    create,delete,get,list,update,watch | discovery.k8s.io | endpointslices
    ${EVENTS}`,
  'ephemeral-volume-controller': `
    ${READ} | core | pods
    update | core | pods/finalizers
    create,get,list,watch | core | persistentvolumeclaims
    ${EVENTS}`,
  'expand-controller': `
    get,list,patch,update,watch | core | persistentvolumes
    patch,update | core | persistentvolumeclaims/status
    ${READ} | core | persistentvolumeclaims
    ${EVENTS}
    get | core | services`,
  'generic-garbage-collector': `
    delete,get,list,patch,update,watch | * | *
    ${EVENTS}`,
  'horizontal-pod-autoscaler': `
    ${READ} | autoscaling | horizontalpodautoscalers
    update | autoscaling | horizontalpodautoscalers/status
    get,update | * | */scale
    list,watch | core | pods
    list,watch | metrics.k8s.io | pods
    ${READ} | custom.metrics.k8s.io | *
    ${READ} | external.metrics.k8s.io | *
    ${EVENTS}`,
  'job-controller': `
    get,list,patch,update,watch | batch | jobs
    update | batch | jobs/status
    update | batch | jobs/finalizers
    create,delete,list,patch,watch | core | pods
    ${EVENTS}`,
  'legacy-service-account-token-cleaner': `
    get | core | configmaps | kube-apiserver-legacy-service-account-token-tracking
    delete,patch | core | secrets`,
  'namespace-controller': `
    delete,get,list,watch | core | namespaces
    update | core | namespaces/finalize,namespaces/status
    delete,deletecollection,get,list,watch | * | *`,
  'node-controller': `
    delete,get,list,patch,update,watch | core | nodes
    patch,update | core | nodes/status
    patch,update | core | pods/status
    delete,get,list,watch | core | pods
    ${EVENTS}`,
  'persistent-volume-binder': `
    create,delete,get,list,update,watch | core | persistentvolumes
    update | core | persistentvolumes/status
    get,list,update,watch | core | persistentvolumeclaims
    update | core | persistentvolumeclaims/status
    create,delete,get,list,watch | core | pods
    ${READ} | storage.k8s.io | storageclasses
    list,watch | core | nodes
    ${EVENTS}
    watch | core | events
    get | core | services`,
  'pod-garbage-collector': `
    delete,list,watch | core | pods
    ${READ} | core | nodes
    patch | core | pods/status`,
  'pv-protection-controller': `
    get,list,update,watch | core | persistentvolumes
    ${EVENTS}`,
  'pvc-protection-controller': `
    get,list,update,watch | core | persistentvolumeclaims
    ${READ} | core | pods
    ${EVENTS}`,
  'replicaset-controller': `
    get,list,update,watch | apps,extensions | replicasets
    update | apps,extensions | replicasets/status
    update | apps,extensions | replicasets/finalizers
    create,delete,list,patch,watch | core | pods
    ${EVENTS}`,
  'replication-controller': `
    get,list,update,watch | core | replicationcontrollers
    update | core | replicationcontrollers/status
    update | core | replicationcontrollers/finalizers
    create,delete,list,patch,watch | core | pods
    ${EVENTS}`,
  'resource-claim-controller': `
    ${READ} | core | pods
    update | core | pods/finalizers
    create,delete,get,list,watch | resource.k8s.io | resourceclaims
    patch,update | resource.k8s.io | resourceclaims,resourceclaims/status
    patch,update | core | pods/status
    ${EVENTS}`,
  'resourcequota-controller': `
    list,watch | * | *
    update | core | resourcequotas/status
    ${EVENTS}`,
  'root-ca-cert-publisher': `
    create,update | core | configmaps
    ${EVENTS}`,
  'route-controller': `
    list,watch | core | nodes
    patch | core | nodes/status
    ${EVENTS}`,
  'selinux-warning-controller': `
    ${EVENTS}
    ${READ} | core | persistentvolumes
    ${READ} | core | persistentvolumeclaims
    ${READ} | core | pods
    ${READ} | storage.k8s.io | csidrivers`,
  'service-account-controller': `
    create | core | serviceaccounts
    ${EVENTS}`,
  'service-cidrs-controller': `
    get,list,patch,update,watch | networking.k8s.io | servicecidrs
    patch,update | networking.k8s.io | servicecidrs/finalizers
    patch,update | networking.k8s.io | servicecidrs/status
    ${READ} | networking.k8s.io | ipaddresses
    ${EVENTS}`,
  'service-controller': `
    ${READ} | core | services
    patch,update | core | services/status
    list,watch | core | nodes
    ${EVENTS}`,
  'statefulset-controller': `
    list,watch | core | pods
    ${READ} | apps | statefulsets
    update | apps | statefulsets/status
    update | apps | statefulsets/finalizers
    create,delete,get,patch,update | core | pods
    create,delete,get,list,patch,update,watch | apps | controllerrevisions
    create,get,list,watch | core | persistentvolumeclaims
    delete,update | core | persistentvolumeclaims
    update | core | pods/finalizers
    ${EVENTS}`,
  'ttl-after-finished-controller': `
    delete,get,list,watch | batch | jobs
    ${EVENTS}`,
  'ttl-controller': `
    list,patch,update,watch | core | nodes
    ${EVENTS}`,
  'validatingadmissionpolicy-status-controller': `
    ${READ} | admissionregistration.k8s.io | validatingadmissionpolicies
    get,patch,update | admissionregistration.k8s.io | validatingadmissionpolicies/status
    ${EVENTS}`,
  'volumeattributesclass-protection-controller': `
    ${READ} | core | persistentvolumeclaims
    ${READ} | core | persistentvolumes
    get,list,update,watch | storage.k8s.io | volumeattributesclasses
    ${EVENTS}`,
};

export interface NamespacedControllerRole {
  /** Role and RoleBinding have one name. */
  name: string;
  namespace: string;
  rules: string;
  users?: string[];
  /** `namespace/name` */
  serviceAccounts: string[];
}

/** Roles of controllers that need to see one namespace only. */
export const NAMESPACED_CONTROLLER_ROLES: readonly NamespacedControllerRole[] = [
  {
    name: 'system:controller:bootstrap-signer',
    namespace: 'kube-system',
    rules: `${READ} | core | secrets`,
    serviceAccounts: ['kube-system/bootstrap-signer'],
  },
  {
    name: 'system:controller:bootstrap-signer',
    namespace: 'kube-public',
    rules: `
      ${READ} | core | configmaps
      update | core | configmaps | cluster-info
      ${EVENTS}`,
    serviceAccounts: ['kube-system/bootstrap-signer'],
  },
  {
    name: 'system:controller:cloud-provider',
    namespace: 'kube-system',
    rules: 'create,get,list,watch | core | configmaps',
    serviceAccounts: ['kube-system/cloud-provider'],
  },
  {
    name: 'system:controller:token-cleaner',
    namespace: 'kube-system',
    rules: `
      delete,get,list,watch | core | secrets
      ${EVENTS}`,
    serviceAccounts: ['kube-system/token-cleaner'],
  },
  {
    name: 'system::leader-locking-kube-controller-manager',
    namespace: 'kube-system',
    rules: `
      watch | core | configmaps
      get,update | core | configmaps | kube-controller-manager
      create,get,list,update,watch | coordination.k8s.io | leases`,
    users: ['system:kube-controller-manager'],
    serviceAccounts: ['kube-system/kube-controller-manager', 'kube-system/leader-election-controller'],
  },
  {
    name: 'system::leader-locking-kube-scheduler',
    namespace: 'kube-system',
    rules: `
      watch | core | configmaps
      get,update | core | configmaps | kube-scheduler`,
    users: ['system:kube-scheduler'],
    serviceAccounts: ['kube-system/kube-scheduler'],
  },
];
