import { AGENT_CREDENTIAL_SECRET, MADE_BY_JOIN, MADE_BY_LABEL, SYSTEM_NAMESPACE } from '../../api/index.ts';

/**
 * What a person calls, as the administrator of a member, to take out what a join made there when no hub does: it is gone, or let the
 * cluster go by force. The Secret is the agent's own and bears no label: it stays where the namespace is somebody else's.
 */
export const TAKE_OUT_BY_HAND: readonly string[] = [
  `kubectl delete clusterrolebinding,clusterrole,namespace -l ${MADE_BY_LABEL}=${MADE_BY_JOIN}`,
  `kubectl delete secret ${AGENT_CREDENTIAL_SECRET} -n ${SYSTEM_NAMESPACE} --ignore-not-found`,
];
