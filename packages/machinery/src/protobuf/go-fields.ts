/*
 * What the protobuf messages of Kubernetes do not say of the Go structs behind them: how fields are called in JSON, which
 * structs are embedded, and which fields are values rather than pointers.
 */

/** Fields whose own fields stand in their place in JSON: embedded structs. */
const EMBEDDED = new Set([
  'ruleWithOperations',
  'rule',
  'ephemeralContainerCommon',
  'persistentVolumeSource',
  'volumeSource',
  'handler',
  'ingressRuleValue',
  'deviceConfiguration',
]);
const EMBEDS_REFERENCE = /^(?:ConfigMap|Secret)(?:EnvSource|KeySelector|Projection)$|^ConfigMapVolumeSource$/;
const EMBEDS: Readonly<Record<string, (message: string) => boolean>> = {
  localObjectReference: (message) => EMBEDS_REFERENCE.test(message),
  rule: (message) => message === 'RuleWithOperations',
  volumeSource: (message) => message === 'Volume',
  handler: (message) => message === 'Probe',
};

const RENAMED: Readonly<Record<string, string>> = {
  Webhooks: 'webhooks',
  Expression: 'expression',
  Name: 'name',
  aPIGroup: 'apiGroup',
  uID: 'uid',
};

/** The JSON name of a message's field; empty for an embedded struct. */
export function jsonNameOf(message: string, field: string): string {
  if (EMBEDDED.has(field) || field === 'localObjectReference') {
    if (EMBEDS[field]?.(message) ?? EMBEDDED.has(field)) return '';
  }
  if (message === 'JSONSchemaProps') return schemaMember(field);
  return RENAMED[field] ?? field;
}

/** `xKubernetesListType` is `x-kubernetes-list-type`. */
function schemaMember(field: string): string {
  if (field === 'schema' || field === 'ref') return `$${field}`;
  return field.startsWith('xKubernetes') ? field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) : field;
}

/** Strings that are pointers, by message: in them the empty text says something. */
const POINTER_STRINGS = fieldSet({
  AdmissionResponse: 'patchType',
  AppArmorProfile: 'localhostProfile',
  AzureDiskVolumeSource: 'cachingMode fsType kind',
  AzureFilePersistentVolumeSource: 'secretNamespace',
  CSIDriverSpec: 'fsGroupPolicy',
  CSIVolumeSource: 'fsType',
  ClusterTrustBundleProjection: 'name signerName',
  Container: 'restartPolicy',
  CronJobSpec: 'timeZone',
  CustomResourceDefinitionVersion: 'deprecationWarning',
  CustomResourceSubresourceScale: 'labelSelectorPath',
  DeleteOptions: 'propagationPolicy',
  DeviceAttribute: 'string version',
  Endpoint: 'hostname nodeName zone',
  EndpointAddress: 'nodeName',
  EndpointPort: 'appProtocol',
  'discovery.v1.EndpointPort': 'name protocol',
  EphemeralContainerCommon: 'restartPolicy',
  GRPCAction: 'service',
  HPAScalingRules: 'selectPolicy',
  HTTPIngressPath: 'pathType',
  HostPathVolumeSource: 'type',
  ISCSIPersistentVolumeSource: 'initiatorName',
  ISCSIVolumeSource: 'initiatorName',
  IngressClassParametersReference: 'apiGroup namespace scope',
  IngressPortStatus: 'error',
  IngressSpec: 'ingressClassName',
  JSONSchemaProps: '$ref x-kubernetes-list-type x-kubernetes-map-type',
  JobSpec: 'completionMode managedBy podReplacementPolicy',
  JobStatus: 'failedIndexes',
  LeaseSpec: 'holderIdentity preferredHolder strategy',
  Lifecycle: 'stopSignal',
  LoadBalancerIngress: 'ipMode',
  LocalVolumeSource: 'fsType',
  MatchResources: 'matchPolicy',
  MutatingWebhook: 'failurePolicy matchPolicy reinvocationPolicy sideEffects',
  NetworkPolicyPort: 'protocol',
  ParamRef: 'parameterNotFoundAction',
  PersistentVolumeClaimSpec: 'storageClassName volumeAttributesClassName volumeMode',
  PersistentVolumeClaimStatus: 'currentVolumeAttributesClassName',
  PersistentVolumeSpec: 'volumeAttributesClassName volumeMode',
  PodDNSConfigOption: 'value',
  PodDisruptionBudgetSpec: 'unhealthyPodEvictionPolicy',
  PodFailurePolicyOnExitCodesRequirement: 'containerName',
  PodResourceClaim: 'resourceClaimName resourceClaimTemplateName',
  PodResourceClaimStatus: 'resourceClaimName',
  PodSecurityContext: 'fsGroupChangePolicy seLinuxChangePolicy supplementalGroupsPolicy',
  PodSpec: 'hostnameOverride preemptionPolicy runtimeClassName',
  PortStatus: 'error',
  Preconditions: 'resourceVersion uid',
  Rule: 'scope',
  SeccompProfile: 'localhostProfile',
  SecurityContext: 'procMount',
  ServicePort: 'appProtocol',
  ServiceReference: 'path',
  ServiceSpec: 'internalTrafficPolicy ipFamilyPolicy loadBalancerClass trafficDistribution',
  StorageClass: 'reclaimPolicy volumeBindingMode',
  SuccessPolicyRule: 'succeededIndexes',
  TopologySpreadConstraint: 'nodeAffinityPolicy nodeTaintsPolicy',
  TypedLocalObjectReference: 'apiGroup',
  TypedObjectReference: 'apiGroup namespace',
  ValidatingAdmissionPolicySpec: 'failurePolicy',
  ValidatingWebhook: 'failurePolicy matchPolicy sideEffects',
  Validation: 'reason',
  ValidationRule: 'reason',
  VolumeAttachmentSource: 'persistentVolumeName',
  VolumeMount: 'mountPropagation recursiveReadOnly',
  VolumeMountStatus: 'recursiveReadOnly',
  WebhookClientConfig: 'url',
  WindowsSecurityContextOptions: 'gmsaCredentialSpec gmsaCredentialSpecName runAsUserName',
});

/** Numbers and booleans that are values, by message: in them zero says nothing. One that is missing here shows as zero. */
const VALUE_SCALARS = fieldSet({
  APIServiceSpec: 'insecureSkipTLSVerify',
  AWSElasticBlockStoreVolumeSource: 'partition readOnly',
  AzureFilePersistentVolumeSource: 'readOnly',
  AzureFileVolumeSource: 'readOnly',
  CSIPersistentVolumeSource: 'readOnly',
  CephFSPersistentVolumeSource: 'readOnly',
  CephFSVolumeSource: 'readOnly',
  CinderPersistentVolumeSource: 'readOnly',
  CinderVolumeSource: 'readOnly',
  Condition: 'observedGeneration',
  Container: 'stdin stdinOnce tty',
  ContainerImage: 'sizeBytes',
  ContainerPort: 'hostPort',
  ContainerStateTerminated: 'signal',
  CustomResourceColumnDefinition: 'priority',
  CustomResourceDefinitionCondition: 'observedGeneration',
  CustomResourceDefinitionSpec: 'preserveUnknownFields',
  CustomResourceDefinitionStatus: 'observedGeneration',
  CustomResourceDefinitionVersion: 'deprecated',
  DaemonSetSpec: 'minReadySeconds',
  DaemonSetStatus: 'numberAvailable numberUnavailable observedGeneration updatedNumberScheduled',
  DeploymentSpec: 'minReadySeconds paused',
  DeploymentStatus: 'availableReplicas observedGeneration readyReplicas replicas unavailableReplicas updatedReplicas',
  EphemeralContainerCommon: 'stdin stdinOnce tty',
  Event: 'count deprecatedCount',
  EventSeries: 'count',
  FCVolumeSource: 'readOnly',
  FlexPersistentVolumeSource: 'readOnly',
  FlexVolumeSource: 'readOnly',
  GCEPersistentDiskVolumeSource: 'partition readOnly',
  GlusterfsPersistentVolumeSource: 'readOnly',
  GlusterfsVolumeSource: 'readOnly',
  HorizontalPodAutoscalerStatus: 'currentReplicas',
  ISCSIPersistentVolumeSource: 'chapAuthDiscovery chapAuthSession readOnly',
  ISCSIVolumeSource: 'chapAuthDiscovery chapAuthSession readOnly',
  JSONSchemaProps:
    'exclusiveMaximum exclusiveMinimum nullable uniqueItems x-kubernetes-embedded-resource x-kubernetes-int-or-string',
  JobStatus: 'active failed succeeded',
  ListOptions: 'allowWatchBookmarks limit watch',
  NFSVolumeSource: 'readOnly',
  NodeSpec: 'unschedulable',
  ObjectMeta: 'generation',
  PersistentVolumeClaimVolumeSource: 'readOnly',
  PodCondition: 'observedGeneration',
  PodDisruptionBudgetStatus: 'observedGeneration',
  PodLogOptions: 'follow insecureSkipTLSVerifyBackend previous timestamps',
  PodSpec: 'hostIPC hostNetwork hostPID',
  PodStatus: 'observedGeneration',
  PortworxVolumeSource: 'readOnly',
  PriorityClass: 'globalDefault',
  Probe: 'failureThreshold initialDelaySeconds periodSeconds successThreshold timeoutSeconds',
  QuobyteVolumeSource: 'readOnly',
  RBDPersistentVolumeSource: 'readOnly',
  RBDVolumeSource: 'readOnly',
  ReplicaSetSpec: 'minReadySeconds',
  ReplicaSetStatus: 'availableReplicas fullyLabeledReplicas observedGeneration readyReplicas',
  ReplicationControllerSpec: 'minReadySeconds',
  ReplicationControllerStatus: 'availableReplicas fullyLabeledReplicas observedGeneration readyReplicas',
  ResourcePolicyRule: 'clusterScope',
  ScaleIOPersistentVolumeSource: 'readOnly sslEnabled',
  ScaleIOVolumeSource: 'readOnly sslEnabled',
  ServiceBackendPort: 'number',
  ServicePort: 'nodePort',
  ServiceSpec: 'healthCheckNodePort publishNotReadyAddresses',
  StatefulSetSpec: 'minReadySeconds',
  StatefulSetStatus: 'currentReplicas observedGeneration readyReplicas updatedReplicas',
  Status: 'code',
  StatusDetails: 'retryAfterSeconds',
  StorageOSPersistentVolumeSource: 'readOnly',
  StorageOSVolumeSource: 'readOnly',
  SubjectAccessReviewStatus: 'denied',
  TokenReviewStatus: 'authenticated',
  ValidatingAdmissionPolicyStatus: 'observedGeneration',
  VolumeMount: 'readOnly',
  VolumeMountStatus: 'readOnly',
});

/**
 * Whether a zero value of the field means that it is not set.
 *
 * @param path the message with its package, e.g. `k8s.io.api.core.v1.PodSpec`.
 * @param name the field in JSON.
 * @param type its protobuf type.
 */
export function isValueField(path: string, name: string, type: string): boolean {
  const parts = path.split('.');
  const has = (set: ReadonlySet<string>) =>
    set.has(`${parts.at(-1)}.${name}`) || set.has(`${parts.slice(-3).join('.')}.${name}`);
  if (type === 'string') return !has(POINTER_STRINGS);
  return TIME_TYPE.test(type)
    ? VALUE_TIMES.has(name) || `${parts.at(-1)}.${name}` === 'VolumeError.time'
    : has(VALUE_SCALARS);
}

const TIME_TYPE = /(?:^|\.)(?:Micro)?Time$/;

/** Fields that hold a time rather than point to one, in whatever message. */
const VALUE_TIMES: ReadonlySet<string> = new Set([
  'creationTimestamp',
  'deprecatedFirstTimestamp',
  'deprecatedLastTimestamp',
  'eventTime',
  'expirationTimestamp',
  'finishedAt',
  'firstTimestamp',
  'lastHeartbeatTime',
  'lastObservedTime',
  'lastProbeTime',
  'lastTimestamp',
  'lastTransitionTime',
  'lastUpdateTime',
  'startedAt',
]);

function fieldSet(fields: Readonly<Record<string, string>>): ReadonlySet<string> {
  const entries = Object.entries(fields);
  return new Set(entries.flatMap(([message, names]) => names.split(' ').map((name) => `${message}.${name}`)));
}
