export const AUDIT_LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type AuditLevel = (typeof AUDIT_LEVELS)[number];

export const AUDIT_STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type AuditStage = (typeof AUDIT_STAGES)[number];

/** `audit.k8s.io/v1` GroupResources. */
export interface AuditedResources {
  group?: string;
  resources?: readonly string[];
  resourceNames?: readonly string[];
}

/** `audit.k8s.io/v1` PolicyRule. An empty list is the same as none. */
export interface AuditRule {
  level: AuditLevel;
  users?: readonly string[];
  userGroups?: readonly string[];
  verbs?: readonly string[];
  resources?: readonly AuditedResources[];
  namespaces?: readonly string[];
  nonResourceURLs?: readonly string[];
  omitStages?: readonly AuditStage[];
  omitManagedFields?: boolean;
}

/** `audit.k8s.io/v1` Policy. */
export interface AuditPolicy {
  rules: readonly AuditRule[];
  omitStages?: readonly AuditStage[];
  omitManagedFields?: boolean;
}
