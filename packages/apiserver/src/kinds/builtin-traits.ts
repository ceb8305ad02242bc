import { validatePathSegmentName } from '@asterism/machinery';
import type { Strategy } from '../contract/strategy.ts';

/** Built-in kinds whose objects have a `metadata.generation`; the others never show one. */
const WITH_GENERATION = new Set([
  'customresourcedefinitions.apiextensions.k8s.io',
  'cronjobs.batch',
  'daemonsets.apps',
  'deployments.apps',
  'deviceclasses.resource.k8s.io',
  'flowschemas.flowcontrol.apiserver.k8s.io',
  'ingressclasses.networking.k8s.io',
  'ingresses.networking.k8s.io',
  'jobs.batch',
  'mutatingadmissionpolicies.admissionregistration.k8s.io',
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io',
  'mutatingwebhookconfigurations.admissionregistration.k8s.io',
  'networkpolicies.networking.k8s.io',
  'pods',
  'poddisruptionbudgets.policy',
  'podtemplates',
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io',
  'replicasets.apps',
  'replicationcontrollers',
  'resourceslices.resource.k8s.io',
  'statefulsets.apps',
  'validatingadmissionpolicies.admissionregistration.k8s.io',
  'validatingadmissionpolicybindings.admissionregistration.k8s.io',
  'validatingwebhookconfigurations.admissionregistration.k8s.io',
]);

/** Built-in kinds that a PUT creates where there is none yet. */
const CREATED_BY_PUT = new Set([
  'clusterrolebindings.rbac.authorization.k8s.io',
  'clusterroles.rbac.authorization.k8s.io',
  'endpoints',
  'events',
  'leases.coordination.k8s.io',
  'limitranges',
  'rolebindings.rbac.authorization.k8s.io',
  'roles.rbac.authorization.k8s.io',
  'runtimeclasses.node.k8s.io',
  'services',
]);

/** Built-in kinds of which a PUT must say which resourceVersion it has seen. */
const REQUIRING_VERSION = new Set([
  'apiservices.apiregistration.k8s.io',
  'csidrivers.storage.k8s.io',
  'csinodes.storage.k8s.io',
  'csistoragecapacities.storage.k8s.io',
  'leases.coordination.k8s.io',
  'mutatingadmissionpolicies.admissionregistration.k8s.io',
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io',
  'mutatingwebhookconfigurations.admissionregistration.k8s.io',
  'poddisruptionbudgets.policy',
  'runtimeclasses.node.k8s.io',
  'validatingadmissionpolicies.admissionregistration.k8s.io',
  'validatingadmissionpolicybindings.admissionregistration.k8s.io',
  'validatingwebhookconfigurations.admissionregistration.k8s.io',
  'volumeattachments.storage.k8s.io',
]);

/** Built-in kinds that answer a completed delete with the object. */
const RETURNING_DELETED = new Set([
  'csidrivers.storage.k8s.io',
  'csinodes.storage.k8s.io',
  'deviceclasses.resource.k8s.io',
  'persistentvolumeclaims',
  'persistentvolumes',
  'pods',
  'podtemplates',
  'resourceclaims.resource.k8s.io',
  'resourceclaimtemplates.resource.k8s.io',
  'resourcequotas',
  'resourceslices.resource.k8s.io',
  'serviceaccounts',
  'services',
  'storageclasses.storage.k8s.io',
  'volumeattachments.storage.k8s.io',
]);

/** Kinds whose update is validated by way of the validation of a new object once more. */
const VALIDATED_AS_NEW = new Set([
  'apiservices.apiregistration.k8s.io',
  'certificatesigningrequests.certificates.k8s.io',
  'clusterrolebindings.rbac.authorization.k8s.io',
  'clusterroles.rbac.authorization.k8s.io',
  'configmaps',
  'controllerrevisions.apps',
  'csistoragecapacities.storage.k8s.io',
  'deviceclasses.resource.k8s.io',
  'ingressclasses.networking.k8s.io',
  'ingresses.networking.k8s.io',
  'ipaddresses.networking.k8s.io',
  'jobs.batch',
  'nodes',
  'persistentvolumeclaims',
  'pods',
  'resourceclaims.resource.k8s.io',
  'resourceclaimtemplates.resource.k8s.io',
  'rolebindings.rbac.authorization.k8s.io',
  'roles.rbac.authorization.k8s.io',
  'runtimeclasses.node.k8s.io',
  'secrets',
  'serviceaccounts',
  'services',
  'storageclasses.storage.k8s.io',
  'volumeattributesclasses.storage.k8s.io',
]);

/** Kinds of which an update of the status leaves all metadata as it is. */
const STATUS_ALONE = new Set([
  'apiservices.apiregistration.k8s.io',
  'flowschemas.flowcontrol.apiserver.k8s.io',
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io',
  'resourceclaims.resource.k8s.io',
  'validatingadmissionpolicies.admissionregistration.k8s.io',
  'volumeattachments.storage.k8s.io',
]);

/** What can be told of a built-in kind by its name alone. */
export function builtinTraits(groupResource: string): Strategy {
  return {
    ...(GENERATION_OF.get(groupResource) ?? (WITH_GENERATION.has(groupResource) ? {} : { generation: 'none' })),
    ...(CREATED_BY_PUT.has(groupResource) ? { createOnUpdate: true } : {}),
    ...(REQUIRING_VERSION.has(groupResource) ? { requiresResourceVersion: true } : {}),
    ...(RETURNING_DELETED.has(groupResource) ? { returnsDeleted: true } : {}),
    ...(STATUS_ALONE.has(groupResource) ? { resetFields: { status: [['spec'], ['metadata']] } } : {}),
    metadataChecks: groupResource === 'events' ? 2 : VALIDATED_AS_NEW.has(groupResource) ? 4 : 3,
    ...(groupResource.endsWith('.rbac.authorization.k8s.io') ? { validateName: validatePathSegmentName } : {}),
  };
}

const GENERATION_OF: ReadonlyMap<string, Strategy> = new Map([
  ['endpointslices.discovery.k8s.io', { generation: 'metadata' }],
  ['priorityclasses.scheduling.k8s.io', { generation: 'initial' }],
]);
