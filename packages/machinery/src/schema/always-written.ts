const TRANSITION = { lastTransitionTime: null };
const PROBED_TRANSITION = { lastProbeTime: null, lastTransitionTime: null };
const UPDATED_TRANSITION = { lastUpdateTime: null, lastTransitionTime: null };

/**
 * Fields that a server always writes though their schemas call them optional, with their zero values, by the Go type that
 * has them (by the component where two types share a name): times held by value, and slices, strings and numbers without
 * `omitempty`. Read off a 1.36 server's answers.
 */
export const ALWAYS_WRITTEN: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  APIServiceCondition: TRANSITION,
  CertificateSigningRequestCondition: UPDATED_TRANSITION,
  ClusterRole: { rules: null },
  ContainerStateRunning: { startedAt: null },
  ContainerStateTerminated: { startedAt: null, finishedAt: null },
  CustomResourceDefinitionCondition: TRANSITION,
  CustomResourceDefinitionStatus: { conditions: null },
  DaemonSetCondition: TRANSITION,
  DeploymentCondition: UPDATED_TRANSITION,
  EndpointSlice: { endpoints: null, ports: null },
  HorizontalPodAutoscalerCondition: TRANSITION,
  JobCondition: PROBED_TRANSITION,
  NamespaceCondition: TRANSITION,
  NodeCondition: { lastHeartbeatTime: null, lastTransitionTime: null },
  PersistentVolumeClaimCondition: PROBED_TRANSITION,
  PodCondition: PROBED_TRANSITION,
  PodDisruptionBudgetStatus: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
  PriorityClass: { value: 0 },
  ReplicaSetCondition: TRANSITION,
  ReplicationControllerCondition: TRANSITION,
  Role: { rules: null },
  StatefulSetCondition: TRANSITION,
  StatefulSetStatus: { availableReplicas: 0 },
  TokenRequestSpec: { expirationSeconds: null, boundObjectRef: null },
  TypedLocalObjectReference: { apiGroup: null },
  TypedObjectReference: { apiGroup: null },
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerStatus': { currentMetrics: null },
  'io.k8s.api.core.v1.Event': {
    eventTime: null,
    firstTimestamp: null,
    lastTimestamp: null,
    reportingComponent: '',
    reportingInstance: '',
  },
  'io.k8s.api.events.v1.Event': { deprecatedFirstTimestamp: null, deprecatedLastTimestamp: null },
};

/** Fields that their schemas call required, and that a server leaves out where they are empty all the same. */
export const LEFT_OUT_WHEN_EMPTY: ReadonlySet<string> = new Set([
  'ValidatingAdmissionPolicyBindingSpec.validationActions',
]);
