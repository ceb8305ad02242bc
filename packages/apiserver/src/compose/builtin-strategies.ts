import { definitionStrategy } from '../crd/definition-strategy.ts';
import type { Conversion } from '../registry/served-version.ts';
import type { Strategy } from '../registry/strategy.ts';
import { admissionPolicyBindingStrategy, admissionPolicyStrategy } from '../registry/strategies/admission-policy.ts';
import { apiServiceStrategy } from '../registry/strategies/api-service.ts';
import { builtinTraits } from '../registry/strategies/builtin-traits.ts';
import { certificateSigningRequestStrategy } from '../registry/strategies/certificate-signing-request.ts';
import { configMapStrategy } from '../registry/strategies/config-map.ts';
import { controllerRevisionStrategy } from '../registry/strategies/controller-revision.ts';
import { cronJobStrategy } from '../registry/strategies/cron-job.ts';
import { csiDriverStrategy } from '../registry/strategies/csi-driver.ts';
import { csiNodeStrategy } from '../registry/strategies/csi-node.ts';
import { csiStorageCapacityStrategy } from '../registry/strategies/csi-storage-capacity.ts';
import { daemonSetStrategy } from '../registry/strategies/daemon-set.ts';
import { deploymentStrategy } from '../registry/strategies/deployment.ts';
import { deviceClassStrategy } from '../registry/strategies/device-class.ts';
import { endpointSliceStrategy } from '../registry/strategies/endpoint-slice.ts';
import { endpointsStrategy } from '../registry/strategies/endpoints.ts';
import { eventStrategy, eventsV1 } from '../registry/strategies/event.ts';
import { flowSchemaStrategy } from '../registry/strategies/flow-schema.ts';
import { horizontalPodAutoscalerStrategy } from '../registry/strategies/horizontal-pod-autoscaler.ts';
import { horizontalPodAutoscalerV1 } from '../registry/strategies/horizontal-pod-autoscaler-v1.ts';
import { ingressStrategy } from '../registry/strategies/ingress.ts';
import { ingressClassStrategy } from '../registry/strategies/ingress-class.ts';
import { ipAddressStrategy } from '../registry/strategies/ip-address-strategy.ts';
import { jobStrategy } from '../registry/strategies/job.ts';
import { leaseStrategy } from '../registry/strategies/lease.ts';
import { limitRangeStrategy } from '../registry/strategies/limit-range.ts';
import { namespaceStrategy } from '../registry/strategies/namespace.ts';
import { networkPolicyStrategy } from '../registry/strategies/network-policy.ts';
import { nodeStrategy } from '../registry/strategies/node.ts';
import { persistentVolumeStrategy } from '../registry/strategies/persistent-volume.ts';
import { persistentVolumeClaimStrategy } from '../registry/strategies/persistent-volume-claim.ts';
import { podStrategy } from '../registry/strategies/pod.ts';
import { podDisruptionBudgetStrategy } from '../registry/strategies/pod-disruption-budget.ts';
import { podTemplateStrategy } from '../registry/strategies/pod-template.ts';
import { priorityClassStrategy } from '../registry/strategies/priority-class.ts';
import { priorityLevelConfigurationStrategy } from '../registry/strategies/priority-level-configuration.ts';
import { replicaSetStrategy } from '../registry/strategies/replica-set.ts';
import { replicationControllerStrategy } from '../registry/strategies/replication-controller.ts';
import { resourceClaimStrategy, resourceClaimTemplateStrategy } from '../registry/strategies/resource-claim.ts';
import { resourceQuotaStrategy } from '../registry/strategies/resource-quota.ts';
import { resourceSliceStrategy } from '../registry/strategies/resource-slice.ts';
import { roleStrategy } from '../registry/strategies/role.ts';
import { roleBindingStrategy } from '../registry/strategies/role-binding.ts';
import { runtimeClassStrategy } from '../registry/strategies/runtime-class.ts';
import { secretStrategy } from '../registry/strategies/secret.ts';
import { createServiceStrategy } from '../registry/strategies/service.ts';
import type { ServiceAllocator } from '../registry/strategies/service-allocator.ts';
import { serviceAccountStrategy } from '../registry/strategies/service-account.ts';
import { serviceCidrStrategy } from '../registry/strategies/service-cidr.ts';
import { statefulSetStrategy } from '../registry/strategies/stateful-set.ts';
import { storageClassStrategy } from '../registry/strategies/storage-class.ts';
import { volumeAttachmentStrategy } from '../registry/strategies/volume-attachment.ts';
import { volumeAttributesClassStrategy } from '../registry/strategies/volume-attributes-class.ts';
import { webhookConfigurationStrategy } from '../registry/strategies/webhook-configuration.ts';

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
