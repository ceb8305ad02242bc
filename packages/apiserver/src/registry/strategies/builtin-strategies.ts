import { definitionStrategy } from '../../crd/definition-strategy.ts';
import type { Conversion } from '../served-version.ts';
import type { Strategy } from '../strategy.ts';
import { admissionPolicyBindingStrategy, admissionPolicyStrategy } from './admission-policy.ts';
import { apiServiceStrategy } from './api-service.ts';
import { builtinTraits } from './builtin-traits.ts';
import { certificateSigningRequestStrategy } from './certificate-signing-request.ts';
import { configMapStrategy } from './config-map.ts';
import { controllerRevisionStrategy } from './controller-revision.ts';
import { cronJobStrategy } from './cron-job.ts';
import { csiDriverStrategy } from './csi-driver.ts';
import { csiNodeStrategy } from './csi-node.ts';
import { csiStorageCapacityStrategy } from './csi-storage-capacity.ts';
import { daemonSetStrategy } from './daemon-set.ts';
import { deploymentStrategy } from './deployment.ts';
import { deviceClassStrategy } from './device-class.ts';
import { endpointSliceStrategy } from './endpoint-slice.ts';
import { endpointsStrategy } from './endpoints.ts';
import { eventStrategy, eventsV1 } from './event.ts';
import { flowSchemaStrategy } from './flow-schema.ts';
import { horizontalPodAutoscalerStrategy } from './horizontal-pod-autoscaler.ts';
import { horizontalPodAutoscalerV1 } from './horizontal-pod-autoscaler-v1.ts';
import { ingressStrategy } from './ingress.ts';
import { ingressClassStrategy } from './ingress-class.ts';
import { ipAddressStrategy } from './ip-address-strategy.ts';
import { jobStrategy } from './job.ts';
import { leaseStrategy } from './lease.ts';
import { limitRangeStrategy } from './limit-range.ts';
import { namespaceStrategy } from './namespace.ts';
import { networkPolicyStrategy } from './network-policy.ts';
import { nodeStrategy } from './node.ts';
import { persistentVolumeStrategy } from './persistent-volume.ts';
import { persistentVolumeClaimStrategy } from './persistent-volume-claim.ts';
import { podStrategy } from './pod.ts';
import { podDisruptionBudgetStrategy } from './pod-disruption-budget.ts';
import { podTemplateStrategy } from './pod-template.ts';
import { priorityClassStrategy } from './priority-class.ts';
import { priorityLevelConfigurationStrategy } from './priority-level-configuration.ts';
import { replicaSetStrategy } from './replica-set.ts';
import { replicationControllerStrategy } from './replication-controller.ts';
import { resourceClaimStrategy, resourceClaimTemplateStrategy } from './resource-claim.ts';
import { resourceQuotaStrategy } from './resource-quota.ts';
import { resourceSliceStrategy } from './resource-slice.ts';
import { roleStrategy } from './role.ts';
import { roleBindingStrategy } from './role-binding.ts';
import { runtimeClassStrategy } from './runtime-class.ts';
import { secretStrategy } from './secret.ts';
import { createServiceStrategy } from './service.ts';
import type { ServiceAllocator } from './service-allocator.ts';
import { serviceAccountStrategy } from './service-account.ts';
import { serviceCidrStrategy } from './service-cidr.ts';
import { statefulSetStrategy } from './stateful-set.ts';
import { storageClassStrategy } from './storage-class.ts';
import { volumeAttachmentStrategy } from './volume-attachment.ts';
import { volumeAttributesClassStrategy } from './volume-attributes-class.ts';
import { webhookConfigurationStrategy } from './webhook-configuration.ts';

/** The strategies of kinds that need one, by group and resource. */
const STRATEGIES: Readonly<Record<string, Strategy>> = {
  'apiservices.apiregistration.k8s.io': apiServiceStrategy,
  'certificatesigningrequests.certificates.k8s.io': certificateSigningRequestStrategy,
  'clusterrolebindings.rbac.authorization.k8s.io': roleBindingStrategy,
  'clusterroles.rbac.authorization.k8s.io': roleStrategy,
  configmaps: configMapStrategy,
  'controllerrevisions.apps': controllerRevisionStrategy,
  'cronjobs.batch': cronJobStrategy,
  'csidrivers.storage.k8s.io': csiDriverStrategy,
  'csinodes.storage.k8s.io': csiNodeStrategy,
  'csistoragecapacities.storage.k8s.io': csiStorageCapacityStrategy,
  'customresourcedefinitions.apiextensions.k8s.io': definitionStrategy,
  'daemonsets.apps': daemonSetStrategy,
  'deployments.apps': deploymentStrategy,
  'deviceclasses.resource.k8s.io': deviceClassStrategy,
  endpoints: endpointsStrategy,
  'endpointslices.discovery.k8s.io': endpointSliceStrategy,
  events: eventStrategy,
  'flowschemas.flowcontrol.apiserver.k8s.io': flowSchemaStrategy,
  'horizontalpodautoscalers.autoscaling': horizontalPodAutoscalerStrategy,
  'ingressclasses.networking.k8s.io': ingressClassStrategy,
  'ingresses.networking.k8s.io': ingressStrategy,
  'ipaddresses.networking.k8s.io': ipAddressStrategy,
  'jobs.batch': jobStrategy,
  'leases.coordination.k8s.io': leaseStrategy,
  limitranges: limitRangeStrategy,
  'mutatingadmissionpolicies.admissionregistration.k8s.io': admissionPolicyStrategy,
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': admissionPolicyBindingStrategy,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': webhookConfigurationStrategy,
  namespaces: namespaceStrategy,
  'networkpolicies.networking.k8s.io': networkPolicyStrategy,
  nodes: nodeStrategy,
  persistentvolumeclaims: persistentVolumeClaimStrategy,
  persistentvolumes: persistentVolumeStrategy,
  'poddisruptionbudgets.policy': podDisruptionBudgetStrategy,
  pods: podStrategy,
  podtemplates: podTemplateStrategy,
  'priorityclasses.scheduling.k8s.io': priorityClassStrategy,
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': priorityLevelConfigurationStrategy,
  'replicasets.apps': replicaSetStrategy,
  replicationcontrollers: replicationControllerStrategy,
  'resourceclaims.resource.k8s.io': resourceClaimStrategy,
  'resourceclaimtemplates.resource.k8s.io': resourceClaimTemplateStrategy,
  resourcequotas: resourceQuotaStrategy,
  'resourceslices.resource.k8s.io': resourceSliceStrategy,
  'rolebindings.rbac.authorization.k8s.io': roleBindingStrategy,
  'roles.rbac.authorization.k8s.io': roleStrategy,
  'runtimeclasses.node.k8s.io': runtimeClassStrategy,
  secrets: secretStrategy,
  serviceaccounts: serviceAccountStrategy,
  'servicecidrs.networking.k8s.io': serviceCidrStrategy,
  'statefulsets.apps': statefulSetStrategy,
  'storageclasses.storage.k8s.io': storageClassStrategy,
  'validatingadmissionpolicies.admissionregistration.k8s.io': admissionPolicyStrategy,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': admissionPolicyBindingStrategy,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': webhookConfigurationStrategy,
  'volumeattachments.storage.k8s.io': volumeAttachmentStrategy,
  'volumeattributesclasses.storage.k8s.io': volumeAttributesClassStrategy,
};

/** Versions that are not the stored one: what they are a view of. By group, version and resource. */
const CONVERSIONS: Readonly<Record<string, { groupResource: string; conversion: Conversion }>> = {
  'autoscaling/v1/horizontalpodautoscalers': {
    groupResource: 'horizontalpodautoscalers.autoscaling',
    conversion: horizontalPodAutoscalerV1,
  },
  'events.k8s.io/v1/events': { groupResource: 'events', conversion: eventsV1 },
};

/** How a built-in kind differs from the usual, by the group and resource under which it is stored. */
export function builtinStrategy(groupResource: string, services: ServiceAllocator): Strategy {
  const own = groupResource === 'services' ? createServiceStrategy(services) : STRATEGIES[groupResource];
  return { ...builtinTraits(groupResource), ...own };
}

/** Where and how a version is stored that differs from what is served; undefined for all others. */
export function builtinConversion(place: string): { groupResource: string; conversion: Conversion } | undefined {
  return CONVERSIONS[place];
}
