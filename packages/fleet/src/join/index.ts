// What may be done in a cluster, and by whom
export { createAccessController } from './access/access-controller.ts';
export { hubManifests, type HubManifestsOptions } from './access/hub-manifests.ts';
export { directManifests, memberManifests } from './access/member-manifests.ts';
export { isSystemNamespace, type PermissionProfile, type Permissions } from './access/permissions.ts';
export { registerAccess } from './access/register-access.ts';
export { removeOtherPermissions, resolvePermissions } from './access/resolve-permissions.ts';
export { PLACE_ROLE, POLICY_EDITOR_ROLE, teamRoles } from './access/team-roles.ts';

// Registration
export { createConfigurationController } from './configuration/configuration-controller.ts';
export {
  type BootstrapToken,
  type BootstrapTokenOptions,
  createBootstrapToken,
} from './registration/bootstrap-token.ts';
export { DEFAULT_INDEX } from './registration/cluster-of-registration.ts';
export { createAgentKey } from './registration/create-certificate-request.ts';
export {
  formatFacts,
  mergeFacts,
  type PlacementFacts,
  placementFactsFault,
  refusedFacts,
  tokenFactsGroups,
} from './registration/placement-facts.ts';
export { createRegistrationCleaner } from './registration/registration-cleaner.ts';
export { createRegistrationController } from './registration/registration-controller.ts';
export {
  agentCertificateRequest,
  awaitCertificate,
  checkNotDenied,
  newRequestName,
  type RegistrationClaim,
  type RegistrationFacts,
  registrationObjects,
  submitRegistration,
} from './registration/request-registration.ts';
export { createTokenCleaner } from './registration/token-cleaner.ts';

// The agent's credential and its connection to the hub
export {
  type AgentCredential,
  certifiedCluster,
  isUsable,
  loadAgentCredential,
  saveAgentCredential,
} from './connect/agent-credential.ts';
export { explainHubFailure, explainMemberFailure, mayPass } from './connect/explain-failure.ts';
export { type HubAddress, resolveHubAuthority } from './connect/hub-trust.ts';
export { certificatePin, isPublicKeyPin, privateKeyPin } from './connect/public-key-pin.ts';
export { shareCredential } from './connect/share-credential.ts';
export { lifeOf, renewCertificate, validityOf } from './renewal/renew-certificate.ts';
export { createRenewalController } from './renewal/renewal-controller.ts';

// The hub's connections to clusters
export { type ClusterConnections, createClusterConnections } from '../reach/cluster-connections.ts';
export { MEMBER_LIVENESS } from '../reach/member-liveness.ts';
export { createClusterProvider } from './connect/cluster-provider.ts';

// Clusters without an agent
export { hasGivenCredential } from './direct/has-given-credential.ts';
export {
  clusterId,
  type DirectCredential,
  type DirectJoin,
  directJoinFault,
  joinDirect,
} from './direct/join-direct.ts';
export { serveDirectMembers } from './direct/serve-direct-members.ts';

// Installing the agent
export { agentManifests, type AgentManifestsOptions } from './install/agent-manifests.ts';
export { agentProgress, applyInMember } from './install/install-agent.ts';
export { JoinError, type JoinErrorCode } from './join-error.ts';

// Health and status
export { compareApis, type ServedKind } from './health/compare-apis.ts';
export { explainHealth } from './health/explain-health.ts';
export { addHealth, HEARTBEAT_TIMEOUT_MS } from './health/health-controller.ts';
export { beat } from './health/heartbeat.ts';
export { StatusReporter } from './health/report-status.ts';
export { createStatusSizeController } from './health/status-size-controller.ts';
export { STATUS_BYTES, STATUS_CHECKS } from './health/status-size.ts';

// Checks, before a cluster joins and afterwards
export { examineCluster } from './doctor/examine-cluster.ts';
export { examineHub } from './doctor/examine-hub.ts';
export { type Finding, hasFault } from './finding.ts';
export { checkHub } from './preflight/check-hub.ts';
export { checkMember } from './preflight/check-member.ts';
export { checkRights, DIRECT_ATTEMPTS } from './preflight/check-rights.ts';

// Leaving
export { addLeaving } from './leave/add-leaving.ts';
export { askToLeave, forceOut, removeTokensOf } from './leave/ask-to-leave.ts';
export { leaveOf, leavingMessage } from './leave/leave-state.ts';
export { TAKE_OUT_BY_HAND } from './leave/take-out-by-hand.ts';
export { takeOutOnLeave } from './leave/take-out-on-leave.ts';
