/** Which of upstream's admission plugins run, by upstream's names, besides those that always do. */
export interface AdmissionPluginChoice {
  enable?: readonly string[];
  disable?: readonly string[];
}

/** On unless they are disabled, as upstream. */
export const DEFAULT_PLUGINS = [
  'LimitRanger',
  'ServiceAccount',
  'TaintNodesByCondition',
  'PodTopologyLabels',
  'Priority',
  'DefaultTolerationSeconds',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'DefaultIngressClass',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
] as const;

/** Off unless they are enabled. */
export const FURTHER_PLUGINS = ['AlwaysPullImages', 'ExtendedResourceToleration', 'DenyServiceExternalIPs'] as const;

/** Part of the server whatever is chosen. */
const ALWAYS_ON = [
  'NamespaceLifecycle',
  'NodeRestriction',
  'CertificateApproval',
  'CertificateSigning',
  'CertificateSubjectRestriction',
  'ClusterTrustBundleAttest',
];

/** Upstream's others. To disable them changes nothing. */
const NOT_HERE = [
  'AlwaysAdmit',
  'AlwaysDeny',
  'EventRateLimit',
  'ImagePolicyWebhook',
  'LimitPodHardAntiAffinityTopology',
  'MutatingAdmissionPolicy',
  'NamespaceAutoProvision',
  'NamespaceExists',
  'OwnerReferencesPermissionEnforcement',
  'PodNodeSelector',
  'PodSecurity',
  'PodTolerationRestriction',
  'ValidatingAdmissionPolicy',
];

export type PluginName = (typeof DEFAULT_PLUGINS)[number] | (typeof FURTHER_PLUGINS)[number];

/** Whether the plugin runs. */
export function isPluginEnabled(choice: AdmissionPluginChoice | undefined, name: PluginName): boolean {
  if (choice?.disable?.includes(name)) return false;
  return (DEFAULT_PLUGINS as readonly string[]).includes(name) || choice?.enable?.includes(name) === true;
}

/** Throws a `TypeError` where plugins are chosen that there are not, or not to be chosen. */
export function checkAdmissionPlugins({ enable = [], disable = [] }: AdmissionPluginChoice): void {
  const both = enable.filter((name) => disable.includes(name));
  if (both.length > 0) throw new TypeError(`admission plugins are both enabled and disabled: ${both.join(', ')}`);
  const known = new Set<string>([...DEFAULT_PLUGINS, ...FURTHER_PLUGINS, ...ALWAYS_ON, ...NOT_HERE]);
  const unknown = [...enable, ...disable].filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new TypeError(
      `there are no admission plugins ${unknown.join(', ')}: known are ${[...known].sort().join(', ')}`,
    );
  }
  const missing = enable.filter((name) => NOT_HERE.includes(name));
  if (missing.length > 0) throw new TypeError(`this server does not have the admission plugins ${missing.join(', ')}`);
  const needed = disable.filter((name) => ALWAYS_ON.includes(name));
  if (needed.length > 0)
    throw new TypeError(`this server cannot do without the admission plugins ${needed.join(', ')}`);
}
