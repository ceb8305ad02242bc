import { StatusError } from '@asterism/machinery';
import { PROXY_GROUP } from '../api/index.ts';

/**
 * Why the hub answers that a call does not come into a member: the `reason` of a cause in the `details` of that Status, for programs.
 * People are told by its message: kubectl prints causes of what is invalid alone.
 *
 * - `ReachMode`: `spec.reach.mode` of the Cluster does not let it in.
 * - `SystemUser`: the caller's name begins with `system:` and means nothing in a member.
 * - `AgentRefused`: the agent there does not let it in.
 * - `CannotImpersonate`: the member does not let the hub, or the agent, come as the caller.
 */
const CAUSES = ['ReachMode', 'SystemUser', 'AgentRefused', 'CannotImpersonate'] as const;

export type RefusalCause = (typeof CAUSES)[number];

/** Or RBAC: that of the hub, by which nobody comes near the member, or that of the member. */
export type Refusal = RefusalCause | 'HubForbids' | 'MemberForbids';

/** The same error with its cause. */
export function refusedFor(reason: RefusalCause, { status, cause }: StatusError): StatusError {
  const causes = [{ reason, message: status.message ?? '' }];
  return new StatusError({ ...status, details: { ...status.details, causes } }, { cause });
}

/** Why a call through the hub was refused, as its Status says; undefined where it was not, but failed. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof StatusError)) return undefined;
  const { causes = [], group } = error.status.details ?? {};
  const cause = CAUSES.find((known) => causes.some(({ reason }) => reason === known));
  if (cause !== undefined || error.code !== 403) return cause;
  return group === PROXY_GROUP ? 'HubForbids' : 'MemberForbids';
}
