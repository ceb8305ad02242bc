export type { AggregationOptions, ServiceAddress, ServiceAt } from './aggregation/aggregation-options.ts';
export { type ApiServer, createApiServer } from './api-server.ts';
export type { ApiServerOptions } from './compose/api-server-options.ts';
export type { ServerLogger } from './contract/server-logger.ts';
export { AuditError, type AuditErrorCode } from './audit/audit-error.ts';
export type { AuditLogOptions, AuditOptions } from './audit/audit-options.ts';
export type { TokenAuthenticator } from './contract/authenticator.ts';
export type { TokenUser } from './contract/authenticator.ts';
export { findOidcFault, type OidcFault, type OidcIssuer } from './authentication/oidc-issuer.ts';
export type { StaticToken } from './authentication/static-tokens.ts';
export type { UserInfo } from './contract/user-info.ts';
export type { AuthorizationAttributes, AuthorizationDecision, Authorizer } from './contract/authorizer.ts';
export { createDelegation, type DelegationOptions } from './delegation/create-delegation.ts';
export type { Delegation } from './contract/delegation.ts';
export {
  type ForwardedResource,
  forwardGroupVersion,
  type ForwardGroupVersionOptions,
} from './forward/forward-group-version.ts';
export type {
  ApiExtension,
  AuditedCall,
  ConnectHandler,
  ExtensionContext,
  ExtensionResource,
} from './http/extension/api-extension.ts';
export type { ApiRequest, ApiResponse, Headers, Peer } from './contract/api-request.ts';
export type {
  KubeletClientOptions,
  NetworkAddress,
  NodeAddressType,
  PodNetwork,
} from './nodes/kubelet-client-options.ts';
export {
  type IdentityLimit,
  type IdentityLimits,
  isUndecidedRequest,
  requesterOf,
} from './identity-limits/identity-limit.ts';
export {
  type CertificateSubject,
  createCertificateAuthority,
  createSigningRequest,
  issueCertificate,
  type KeyPair,
  LEAF_MS,
  newPrivateKey,
  openServerPki,
  readSigningRequest,
  type ServerPki,
  type ServerPkiOptions,
  signRequest,
  type SigningRequest,
  type SigningRequestContent,
} from './pki/index.ts';
export {
  copyDatabase,
  type DatabaseSummary,
  inspectDatabase,
  renewRevisions,
} from './storage/copy-database.ts';
export type { ObjectCheck } from './registry/object-checks.ts';
export { createMemoryStorage } from './storage/memory-storage.ts';
export { createSqliteStorage, type SqliteStorageOptions } from './storage/sqlite-storage.ts';
export { formatDamagedRows } from './storage/damaged-rows.ts';
export type { Storage } from './storage/storage.ts';
export type { AdmissionRequest, AdmissionStep } from './contract/admission-step.ts';
export type { ServedResource } from './contract/served-resource.ts';
export type { StorageKey } from './contract/object-change.ts';
export { StorageError, type StorageErrorCode } from './storage/storage-error.ts';
