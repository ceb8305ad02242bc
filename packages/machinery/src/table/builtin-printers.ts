import { AUTOSCALER_PRINTER } from './autoscaler-printer.ts';
import * as cluster from './cluster-printers.ts';
import { describedPrinter } from './described-printer.ts';
import { EVENTS_EVENT_PRINTER, EVENT_PRINTER } from './event-printers.ts';
import * as network from './network-printers.ts';
import { POD_PRINTER } from './pod-printer.ts';
import * as policy from './policy-printers.ts';
import * as storage from './storage-printers.ts';
import { DEFAULT_PRINTER, type TablePrinter } from './table-printer.ts';
import * as workload from './workload-printers.ts';

/**
 * How Kubernetes itself shows a kind. Kinds that it has no columns for, such as Role and CustomResourceDefinition, show `Name`
 * and `Created At`, and so do kinds that are not its own.
 */
export function builtinPrinter({ group, kind }: { group: string; kind: string }): TablePrinter {
  const key = `${group}/${kind}`;
  return describedPrinter(PRINTERS.get(key) ?? DEFAULT_PRINTER, key);
}

const PRINTERS: ReadonlyMap<string, TablePrinter> = new Map([
  ['/ComponentStatus', cluster.COMPONENT_STATUS_PRINTER],
  ['/ConfigMap', cluster.CONFIG_MAP_PRINTER],
  ['/Endpoints', network.ENDPOINTS_PRINTER],
  ['/Event', EVENT_PRINTER],
  ['/Namespace', cluster.NAMESPACE_PRINTER],
  ['/Node', cluster.NODE_PRINTER],
  ['/PersistentVolume', storage.PERSISTENT_VOLUME_PRINTER],
  ['/PersistentVolumeClaim', storage.PERSISTENT_VOLUME_CLAIM_PRINTER],
  ['/Pod', POD_PRINTER],
  ['/PodTemplate', workload.POD_TEMPLATE_PRINTER],
  ['/ReplicationController', workload.REPLICATION_CONTROLLER_PRINTER],
  ['/ResourceQuota', cluster.RESOURCE_QUOTA_PRINTER],
  ['/Secret', cluster.SECRET_PRINTER],
  ['/Service', network.SERVICE_PRINTER],
  ['/ServiceAccount', cluster.SERVICE_ACCOUNT_PRINTER],
  ['admissionregistration.k8s.io/MutatingAdmissionPolicy', policy.MUTATING_ADMISSION_POLICY_PRINTER],
  ['admissionregistration.k8s.io/MutatingAdmissionPolicyBinding', policy.ADMISSION_POLICY_BINDING_PRINTER],
  ['admissionregistration.k8s.io/MutatingWebhookConfiguration', policy.WEBHOOK_CONFIGURATION_PRINTER],
  ['admissionregistration.k8s.io/ValidatingAdmissionPolicy', policy.VALIDATING_ADMISSION_POLICY_PRINTER],
  ['admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding', policy.ADMISSION_POLICY_BINDING_PRINTER],
  ['admissionregistration.k8s.io/ValidatingWebhookConfiguration', policy.WEBHOOK_CONFIGURATION_PRINTER],
  ['apiregistration.k8s.io/APIService', cluster.API_SERVICE_PRINTER],
  ['apps/ControllerRevision', workload.CONTROLLER_REVISION_PRINTER],
  ['apps/DaemonSet', workload.DAEMON_SET_PRINTER],
  ['apps/Deployment', workload.DEPLOYMENT_PRINTER],
  ['apps/ReplicaSet', workload.REPLICA_SET_PRINTER],
  ['apps/StatefulSet', workload.STATEFUL_SET_PRINTER],
  ['autoscaling/HorizontalPodAutoscaler', AUTOSCALER_PRINTER],
  ['autoscaling/Scale', workload.SCALE_PRINTER],
  ['batch/CronJob', workload.CRON_JOB_PRINTER],
  ['batch/Job', workload.JOB_PRINTER],
  ['certificates.k8s.io/CertificateSigningRequest', cluster.CERTIFICATE_SIGNING_REQUEST_PRINTER],
  ['coordination.k8s.io/Lease', cluster.LEASE_PRINTER],
  ['discovery.k8s.io/EndpointSlice', network.ENDPOINT_SLICE_PRINTER],
  ['events.k8s.io/Event', EVENTS_EVENT_PRINTER],
  ['flowcontrol.apiserver.k8s.io/FlowSchema', policy.FLOW_SCHEMA_PRINTER],
  ['flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration', policy.PRIORITY_LEVEL_PRINTER],
  ['networking.k8s.io/Ingress', network.INGRESS_PRINTER],
  ['networking.k8s.io/IngressClass', network.INGRESS_CLASS_PRINTER],
  ['networking.k8s.io/IPAddress', network.IP_ADDRESS_PRINTER],
  ['networking.k8s.io/NetworkPolicy', network.NETWORK_POLICY_PRINTER],
  ['networking.k8s.io/ServiceCIDR', network.SERVICE_CIDR_PRINTER],
  ['node.k8s.io/RuntimeClass', cluster.RUNTIME_CLASS_PRINTER],
  ['policy/PodDisruptionBudget', workload.POD_DISRUPTION_BUDGET_PRINTER],
  ['rbac.authorization.k8s.io/ClusterRoleBinding', cluster.ROLE_BINDING_PRINTER],
  ['rbac.authorization.k8s.io/RoleBinding', cluster.ROLE_BINDING_PRINTER],
  ['resource.k8s.io/DeviceClass', policy.NAME_AND_AGE_PRINTER],
  ['resource.k8s.io/ResourceClaim', policy.RESOURCE_CLAIM_PRINTER],
  ['resource.k8s.io/ResourceClaimTemplate', policy.NAME_AND_AGE_PRINTER],
  ['resource.k8s.io/ResourceSlice', policy.RESOURCE_SLICE_PRINTER],
  ['scheduling.k8s.io/PriorityClass', cluster.PRIORITY_CLASS_PRINTER],
  ['storage.k8s.io/CSIDriver', storage.CSI_DRIVER_PRINTER],
  ['storage.k8s.io/CSINode', storage.CSI_NODE_PRINTER],
  ['storage.k8s.io/StorageClass', storage.STORAGE_CLASS_PRINTER],
  ['storage.k8s.io/VolumeAttachment', storage.VOLUME_ATTACHMENT_PRINTER],
  ['storage.k8s.io/VolumeAttributesClass', storage.VOLUME_ATTRIBUTES_CLASS_PRINTER],
]);
