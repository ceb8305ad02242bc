import type { Client, Clock } from '@asterism/client';
import { CLUSTER_ROLES, ifFound, isStatusError } from '@asterism/machinery';
import { type Cluster, SYSTEM_NAMESPACE } from '../../api/index.ts';
import { actingAccount, type Permissions, permittedNamespaces, readPermissions } from '../access/permissions.ts';
import { profileRights } from '../access/profile-rights.ts';
import { type Attempt, formatAttempt, isAllowed } from '../preflight/check-rights.ts';

type Reported = NonNullable<Cluster['status']>['permissions'];

/** How many namespaces a status names. */
const MAX_NAMESPACES = 1_000;

export interface PermissionReporterOptions {
  /** As the account that acts in the member, or (`self` is false) as the agent of a member in Push. */
  member: Client;
  syncMode: Cluster['spec']['syncMode'];
  self: boolean;
  clock: Clock;
  /** The least time between two looks at the profile, ms. */
  lookMs: number;
  /** How long the rights count as known while the profile stays the same, ms. */
  checkMs: number;
}

/**
 * Reads with which profile a member was joined, and compares a few telling rights of the account with it. A member that an earlier
 * release joined, or whose credential a person gave, has no profile.
 */
export class PermissionReporter {
  readonly #options: PermissionReporterOptions;
  #lookAt = Number.NEGATIVE_INFINITY;
  #known: { version: string | undefined; until: number; reported: Reported } | undefined;

  constructor(options: PermissionReporterOptions) {
    this.#options = options;
  }

  async look(signal: AbortSignal): Promise<Reported> {
    const { member, syncMode, clock, lookMs, checkMs } = this.#options;
    const now = clock.monotonic();
    if (now < this.#lookAt) return this.#known?.reported;
    this.#lookAt = now + lookMs;
    const getting = member.resource(CLUSTER_ROLES).get({ name: actingAccount(syncMode).clusterRole }, { signal });
    const role = await ifFound(getting).catch((error: unknown) => {
      // An earlier release did not give this right.
      if (isStatusError(error, 'Forbidden')) return undefined;
      throw error;
    });
    const version = role?.metadata?.resourceVersion;
    if (this.#known && this.#known.version === version && now < this.#known.until) return this.#known.reported;
    const permissions = readPermissions(role?.metadata?.annotations);
    const reported = permissions && (await this.#compare(permissions, signal));
    this.#known = { version, until: now + checkMs, reported };
    return reported;
  }

  async #compare(permissions: Permissions, signal: AbortSignal): Promise<Reported> {
    const { included, excluded } = profileRights(permissions);
    const [missing, excess] = await Promise.all([
      this.#answering(included, false, signal),
      this.#answering(excluded, true, signal),
    ]);
    const namespaces = permittedNamespaces(permissions).slice(0, MAX_NAMESPACES);
    return {
      profile: permissions.profile,
      ...(permissions.profile === 'workloads' ? { namespaces } : {}),
      ...(missing.length > 0 ? { missing } : {}),
      ...(excess.length > 0 ? { excess } : {}),
    };
  }

  /** The attempts that get this answer, in words. Those that the member does not answer are left out. */
  async #answering(attempts: readonly Attempt[], answer: boolean, signal: AbortSignal): Promise<string[]> {
    const { member, self, syncMode } = this.#options;
    const { name } = actingAccount(syncMode);
    const account = {
      user: `system:serviceaccount:${SYSTEM_NAMESPACE}:${name}`,
      groups: ['system:serviceaccounts', `system:serviceaccounts:${SYSTEM_NAMESPACE}`, 'system:authenticated'],
    };
    const answers = await Promise.all(
      attempts.map((attempt) => isAllowed(member, attempt, { signal, account: self ? undefined : account })),
    );
    return attempts.filter((_, index) => answers[index] === answer).map(formatAttempt);
  }
}
