export { createAccessController } from './access/access-controller.ts';
export { type ClusterAccess, clusterAccess } from './access/cluster-access.ts';
export { ensureClusterAccess } from './access/ensure-cluster-access.ts';
export { hubManifests, type HubManifestsOptions } from './access/hub-manifests.ts';
export { directManifests, memberManifests, type MemberManifestsOptions } from './access/member-manifests.ts';
export { explainForbidden, forbiddenAdvice, type MissingRight } from './access/explain-forbidden.ts';
export * from './access/permissions.ts';
export { removeOtherPermissions, resolvePermissions } from './access/resolve-permissions.ts';
export { registerAccess } from './access/register-access.ts';
export { PLACE_ROLE, POLICY_EDITOR_ROLE, teamRoles } from './access/team-roles.ts';
export {
  type ApprovalRule,
  matchingRule,
  readApprovalRules,
} from './configuration/approval-rules.ts';
export { createConfigurationController } from './configuration/configuration-controller.ts';
export * from './connect/agent-credential.ts';
export * from '../reach/cluster-connections.ts';
export * from './connect/cluster-provider.ts';
export * from './connect/explain-failure.ts';
export * from './connect/hub-trust.ts';
export * from '../reach/member-liveness.ts';
export * from './connect/public-key-pin.ts';
export * from './connect/share-credential.ts';
export * from './health/compare-apis.ts';
export * from './health/explain-health.ts';
export { createStatusSizeController } from './health/status-size-controller.ts';
export { STATUS_BYTES, STATUS_CHECKS } from './health/status-size.ts';
export { addHealth, HEARTBEAT_TIMEOUT_MS } from './health/health-controller.ts';
export { beat } from './health/heartbeat.ts';
export * from './health/report-status.ts';
export * from './direct/join-direct.ts';
export { hasGivenCredential } from './direct/has-given-credential.ts';
export { isWithoutAgent } from './direct/is-without-agent.ts';
export { serveDirectMembers } from './direct/serve-direct-members.ts';
export { type ClusterFacts, diagnoseCluster, type Probe } from './doctor/diagnose-cluster.ts';
export { examineCluster } from './doctor/examine-cluster.ts';
export { examineHub } from './doctor/examine-hub.ts';
export { summarizeCluster } from './health/summarize-cluster.ts';
export * from './finding.ts';
export * from './install/agent-manifests.ts';
export * from './install/install-agent.ts';
export * from './join-error.ts';
export { checkHub, type CheckHubOptions } from './preflight/check-hub.ts';
export { checkMember, type CheckMemberOptions } from './preflight/check-member.ts';
export { type Attempt, checkRights, DIRECT_ATTEMPTS, isAllowed } from './preflight/check-rights.ts';
export { askToLeave, forceOut, removeTokensOf } from './leave/ask-to-leave.ts';
export { addLeaving } from './leave/add-leaving.ts';
export { leaveOf, type LeaveMode, leavingMessage } from './leave/leave-state.ts';
export { removeRegistrations } from './leave/remove-registrations.ts';
export { TAKE_OUT_BY_HAND } from './leave/take-out-by-hand.ts';
export { takeOutOnLeave } from './leave/take-out-on-leave.ts';
export * from './registration/bootstrap-token.ts';
export { DEFAULT_INDEX } from './registration/cluster-of-registration.ts';
export { createAgentKey } from './registration/create-certificate-request.ts';
export {
  decideRegistration,
  type RegistrationDecision,
  type RegistrationInput,
} from './registration/decide-registration.ts';
export * from './registration/placement-facts.ts';
export { createRegistrationCleaner } from './registration/registration-cleaner.ts';
export { createRegistrationController } from './registration/registration-controller.ts';
export * from './registration/request-registration.ts';
export { createTokenCleaner } from './registration/token-cleaner.ts';
export { createRenewalController } from './renewal/renewal-controller.ts';
export * from './renewal/renew-certificate.ts';
