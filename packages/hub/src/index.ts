export { backupDataDir, type BackupOptions, type BackupSummary } from './backup-data-dir.ts';
export { createHub, type Hub } from './create-hub.ts';
export { createHubOnKubernetes, type HubOnKubernetes } from './create-hub-on-kubernetes.ts';
export { HubError, type HubErrorCode } from './hub-error.ts';
export type { AuditOptions, HubOnKubernetesOptions, HubOptions, HubTiming, OidcIssuer } from './hub-options.ts';
export { findOidcFault, type OidcFault } from '@asterism/apiserver';
export { restoreDataDir, type RestoreOptions } from './restore-data-dir.ts';
