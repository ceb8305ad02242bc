import { definitionStrategy } from '../crd/definition-strategy.ts';
import { admissionPolicyBindingStrategy, admissionPolicyStrategy } from '../kinds/admission-policy/kind.ts';
import { apiServiceStrategy } from '../kinds/api-service/kind.ts';
import { builtinTraits } from '../kinds/builtin-traits.ts';
import { certificateSigningRequestStrategy } from '../kinds/certificate-signing-request/kind.ts';
import { configMapStrategy } from '../kinds/config-map/kind.ts';
import { controllerRevisionStrategy } from '../kinds/controller-revision/kind.ts';
import { cronJobStrategy } from '../kinds/cron-job/kind.ts';
import { csiDriverStrategy } from '../kinds/csi-driver/kind.ts';
import { csiNodeStrategy } from '../kinds/csi-node/kind.ts';
import { csiStorageCapacityStrategy } from '../kinds/csi-storage-capacity/kind.ts';
import { daemonSetStrategy } from '../kinds/daemon-set/kind.ts';
import { deploymentStrategy } from '../kinds/deployment/kind.ts';
import { deviceClassStrategy } from '../kinds/device-class/kind.ts';
import { endpointSliceStrategy } from '../kinds/endpoint-slice/kind.ts';
import { endpointsStrategy } from '../kinds/endpoints/kind.ts';
import { eventStrategy, eventsV1 } from '../kinds/event/kind.ts';
import { flowSchemaStrategy } from '../kinds/flow-schema/kind.ts';
import { horizontalPodAutoscalerStrategy } from '../kinds/horizontal-pod-autoscaler/kind.ts';
import { horizontalPodAutoscalerV1 } from '../kinds/horizontal-pod-autoscaler/v1.ts';
import { ingressStrategy } from '../kinds/ingress/kind.ts';
import { ingressClassStrategy } from '../kinds/ingress-class/kind.ts';
import { ipAddressStrategy } from '../kinds/ip-address/kind.ts';
import { jobStrategy } from '../kinds/job/kind.ts';
import { leaseStrategy } from '../kinds/lease/kind.ts';
import { limitRangeStrategy } from '../kinds/limit-range/kind.ts';
import { namespaceStrategy } from '../kinds/namespace/kind.ts';
import { networkPolicyStrategy } from '../kinds/network-policy/kind.ts';
import { nodeStrategy } from '../kinds/node/kind.ts';
import { persistentVolumeStrategy } from '../kinds/persistent-volume/kind.ts';
import { persistentVolumeClaimStrategy } from '../kinds/persistent-volume-claim/kind.ts';
import { podStrategy } from '../kinds/pod/kind.ts';
import { podDisruptionBudgetStrategy } from '../kinds/pod-disruption-budget/kind.ts';
import { podTemplateStrategy } from '../kinds/pod-template/kind.ts';
import { priorityClassStrategy } from '../kinds/priority-class/kind.ts';
import { priorityLevelConfigurationStrategy } from '../kinds/priority-level-configuration/kind.ts';
import { replicaSetStrategy } from '../kinds/replica-set/kind.ts';
import { replicationControllerStrategy } from '../kinds/replication-controller/kind.ts';
import { resourceClaimStrategy, resourceClaimTemplateStrategy } from '../kinds/resource-claim/kind.ts';
import { resourceQuotaStrategy } from '../kinds/resource-quota/kind.ts';
import { resourceSliceStrategy } from '../kinds/resource-slice/kind.ts';
import { roleStrategy } from '../kinds/role/kind.ts';
import { roleBindingStrategy } from '../kinds/role-binding/kind.ts';
import { runtimeClassStrategy } from '../kinds/runtime-class/kind.ts';
import { secretStrategy } from '../kinds/secret/kind.ts';
import { createServiceStrategy } from '../kinds/service/kind.ts';
import type { ServiceAllocator } from '../kinds/service/service-allocator.ts';
import { serviceAccountStrategy } from '../kinds/service-account/kind.ts';
import { serviceCidrStrategy } from '../kinds/service-cidr/kind.ts';
import { statefulSetStrategy } from '../kinds/stateful-set/kind.ts';
import { storageClassStrategy } from '../kinds/storage-class/kind.ts';
import { volumeAttachmentStrategy } from '../kinds/volume-attachment/kind.ts';
import { volumeAttributesClassStrategy } from '../kinds/volume-attributes-class/kind.ts';
import { webhookConfigurationStrategy } from '../kinds/webhook-configuration/kind.ts';
import type { Conversion } from '../contract/conversion.ts';
import type { Strategy } from '../contract/strategy.ts';

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
