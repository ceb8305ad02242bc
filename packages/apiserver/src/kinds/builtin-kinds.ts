import type { Kind } from '../contract/kind.ts';
import { admissionPolicyKinds } from './admission-policy/kind.ts';
import { apiServiceKind } from './api-service/kind.ts';
import { certificateSigningRequestKind } from './certificate-signing-request/kind.ts';
import { componentStatusKind } from './component-status/kind.ts';
import { configMapKind } from './config-map/kind.ts';
import { controllerRevisionKind } from './controller-revision/kind.ts';
import { cronJobKind } from './cron-job/kind.ts';
import { csiDriverKind } from './csi-driver/kind.ts';
import { csiNodeKind } from './csi-node/kind.ts';
import { csiStorageCapacityKind } from './csi-storage-capacity/kind.ts';
import { daemonSetKind } from './daemon-set/kind.ts';
import { deploymentKind } from './deployment/kind.ts';
import { deviceClassKind } from './device-class/kind.ts';
import { endpointSliceKind } from './endpoint-slice/kind.ts';
import { endpointsKind } from './endpoints/kind.ts';
import { eventKind } from './event/kind.ts';
import { flowSchemaKind } from './flow-schema/kind.ts';
import { horizontalPodAutoscalerKind } from './horizontal-pod-autoscaler/kind.ts';
import { ingressKind } from './ingress/kind.ts';
import { ingressClassKind } from './ingress-class/kind.ts';
import { ipAddressKind } from './ip-address/kind.ts';
import { jobKind } from './job/kind.ts';
import { leaseKind } from './lease/kind.ts';
import { limitRangeKind } from './limit-range/kind.ts';
import { namespaceKind } from './namespace/kind.ts';
import { networkPolicyKind } from './network-policy/kind.ts';
import { nodeKind } from './node/kind.ts';
import { persistentVolumeKind } from './persistent-volume/kind.ts';
import { persistentVolumeClaimKind } from './persistent-volume-claim/kind.ts';
import { podKind } from './pod/kind.ts';
import { podDisruptionBudgetKind } from './pod-disruption-budget/kind.ts';
import { podTemplateKind } from './pod-template/kind.ts';
import { priorityClassKind } from './priority-class/kind.ts';
import { priorityLevelConfigurationKind } from './priority-level-configuration/kind.ts';
import { replicaSetKind } from './replica-set/kind.ts';
import { replicationControllerKind } from './replication-controller/kind.ts';
import { resourceClaimKinds } from './resource-claim/kind.ts';
import { resourceQuotaKind } from './resource-quota/kind.ts';
import { resourceSliceKind } from './resource-slice/kind.ts';
import { roleKinds } from './role/kind.ts';
import { roleBindingKinds } from './role-binding/kind.ts';
import { runtimeClassKind } from './runtime-class/kind.ts';
import { secretKind } from './secret/kind.ts';
import { createServiceKind } from './service/kind.ts';
import { serviceAccountKind } from './service-account/kind.ts';
import { serviceCidrKind } from './service-cidr/kind.ts';
import { statefulSetKind } from './stateful-set/kind.ts';
import { storageClassKind } from './storage-class/kind.ts';
import { volumeAttachmentKind } from './volume-attachment/kind.ts';
import { volumeAttributesClassKind } from './volume-attributes-class/kind.ts';
import { webhookConfigurationKinds } from './webhook-configuration/kind.ts';
import type { ServiceAllocator } from './service/service-allocator.ts';

/**
 * Every built-in kind with rules of its own, except CustomResourceDefinition. Reviews and bindings need none: they are never
 * stored.
 */
export function builtinKinds(services: ServiceAllocator): Kind[] {
  return [
    ...admissionPolicyKinds,
    apiServiceKind,
    certificateSigningRequestKind,
    componentStatusKind,
    configMapKind,
    controllerRevisionKind,
    cronJobKind,
    csiDriverKind,
    csiNodeKind,
    csiStorageCapacityKind,
    daemonSetKind,
    deploymentKind,
    deviceClassKind,
    endpointSliceKind,
    endpointsKind,
    eventKind,
    flowSchemaKind,
    horizontalPodAutoscalerKind,
    ingressKind,
    ingressClassKind,
    ipAddressKind,
    jobKind,
    leaseKind,
    limitRangeKind,
    namespaceKind,
    networkPolicyKind,
    nodeKind,
    persistentVolumeKind,
    persistentVolumeClaimKind,
    podKind,
    podDisruptionBudgetKind,
    podTemplateKind,
    priorityClassKind,
    priorityLevelConfigurationKind,
    replicaSetKind,
    replicationControllerKind,
    ...resourceClaimKinds,
    resourceQuotaKind,
    resourceSliceKind,
    ...roleKinds,
    ...roleBindingKinds,
    runtimeClassKind,
    secretKind,
    createServiceKind(services),
    serviceAccountKind,
    serviceCidrKind,
    statefulSetKind,
    storageClassKind,
    volumeAttachmentKind,
    volumeAttributesClassKind,
    ...webhookConfigurationKinds,
  ];
}
