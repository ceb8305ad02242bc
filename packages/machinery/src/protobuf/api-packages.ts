const API = 'k8s.io.api';

/** Where the messages of the API groups are: the version and the kind follow. */
const PACKAGES: ReadonlyMap<string, string> = new Map([
  ['', `${API}.core`],
  ['admission.k8s.io', `${API}.admission`],
  ['admissionregistration.k8s.io', `${API}.admissionregistration`],
  ['apidiscovery.k8s.io', `${API}.apidiscovery`],
  ['apiextensions.k8s.io', 'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions'],
  ['apiregistration.k8s.io', 'k8s.io.kube_aggregator.pkg.apis.apiregistration'],
  ['apps', `${API}.apps`],
  ['audit.k8s.io', 'k8s.io.apiserver.pkg.apis.audit'],
  ['authentication.k8s.io', `${API}.authentication`],
  ['authorization.k8s.io', `${API}.authorization`],
  ['autoscaling', `${API}.autoscaling`],
  ['batch', `${API}.batch`],
  ['certificates.k8s.io', `${API}.certificates`],
  ['coordination.k8s.io', `${API}.coordination`],
  ['custom.metrics.k8s.io', 'k8s.io.metrics.pkg.apis.custom_metrics'],
  ['discovery.k8s.io', `${API}.discovery`],
  ['events.k8s.io', `${API}.events`],
  ['extensions', `${API}.extensions`],
  ['external.metrics.k8s.io', 'k8s.io.metrics.pkg.apis.external_metrics'],
  ['flowcontrol.apiserver.k8s.io', `${API}.flowcontrol`],
  ['imagepolicy.k8s.io', `${API}.imagepolicy`],
  ['internal.apiserver.k8s.io', `${API}.apiserverinternal`],
  ['metrics.k8s.io', 'k8s.io.metrics.pkg.apis.metrics'],
  ['networking.k8s.io', `${API}.networking`],
  ['node.k8s.io', `${API}.node`],
  ['policy', `${API}.policy`],
  ['rbac.authorization.k8s.io', `${API}.rbac`],
  ['resource.k8s.io', `${API}.resource`],
  ['scheduling.k8s.io', `${API}.scheduling`],
  ['storage.k8s.io', `${API}.storage`],
  ['storagemigration.k8s.io', `${API}.storagemigration`],
]);

const META = 'k8s.io.apimachinery.pkg.apis.meta.v1';

/** Kinds that are in every group: bodies and answers of requests rather than resources. */
const META_KINDS = new Set([
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PartialObjectMetadata',
  'PartialObjectMetadataList',
  'PatchOptions',
  'Status',
  'TableOptions',
  'UpdateOptions',
  'WatchEvent',
]);

/** The full name of a kind's message if it has one; where several are named the first that exists is meant. */
export function messageNamesOf(group: string, version: string, kind: string): string[] {
  const apiPackage = PACKAGES.get(group);
  const names = apiPackage === undefined ? [] : [`${apiPackage}.${version}.${kind}`];
  return META_KINDS.has(kind) ? [...names, `${META}.${kind}`] : names;
}
