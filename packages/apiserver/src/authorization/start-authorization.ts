import type { UserInfo } from '../contract/user-info.ts';
import type { Creation } from '../contract/creation.ts';
import type { Registry } from '../registry/registry.ts';
import { startClusterRoleAggregation } from './aggregate-cluster-roles.ts';
import type { Authorizer } from '../contract/authorizer.ts';
import { createEscalationCheck } from './escalation-check.ts';
import { NodeAuthorizer } from './node-authorizer.ts';
import { createNodeRestriction } from './node-restriction.ts';
import { RbacAuthorizer } from './rbac-authorizer.ts';
import { RbacIndex } from './rbac-index.ts';
import { watchRbac } from './rbac-watch.ts';
import { reconcileDefaultPolicy } from './reconcile-default-policy.ts';
import { createSelfSubjectRulesReview } from './rules-review.ts';
import { createSignerCheck } from './signer-check.ts';
import { createSubjectRestriction } from './subject-restriction.ts';
import type { AdmissionStep } from '../contract/admission-step.ts';

export interface Authorization {
  authorizer: Authorizer;
  rulesReview: Creation;
  /** Fulfilled when nothing of it runs any more. */
  ended: Promise<unknown>;
}

const ALLOW_ALL: Authorizer = { authorize: () => ({ allowed: true, reason: '' }) };

/** Brings up authorization: default roles, their index, aggregation, and the checks that stand between writes and storage. */
export async function startAuthorization(options: {
  mode: 'RBAC' | 'AlwaysAllow';
  /** With RBAC required: roles are kept there. */
  registry: Registry | undefined;
  user: UserInfo;
  privilegedGroups?: readonly string[] | undefined;
  controllers: boolean;
  admission: AdmissionStep[];
  signal: AbortSignal;
  onError(error: unknown): void;
}): Promise<Authorization> {
  const { registry, user, signal } = options;
  if (options.mode === 'AlwaysAllow') {
    return { authorizer: ALLOW_ALL, rulesReview: createSelfSubjectRulesReview(undefined), ended: Promise.resolve() };
  }
  if (registry === undefined) throw new TypeError('RBAC needs a registry that holds roles');
  await reconcileDefaultPolicy(registry, user);
  const index = new RbacIndex();
  const rbac = new RbacAuthorizer(index);
  const watched = watchRbac(registry, index, signal);
  const ended: Promise<unknown>[] = [watched.ended.catch(options.onError)];
  await watched.synced;
  if (options.controllers) {
    const aggregation = startClusterRoleAggregation({
      registry,
      user,
      signal,
      onError: (_, error) => options.onError(error),
    });
    ended.push(aggregation.ended.catch(options.onError));
    await aggregation.synced;
  }
  const authorizer = new NodeAuthorizer({ registry, next: rbac, signal });
  options.admission.push(
    createEscalationCheck(rbac, rbac),
    createSignerCheck(rbac),
    createSubjectRestriction(options.privilegedGroups),
    createNodeRestriction(registry),
  );
  return { authorizer, rulesReview: createSelfSubjectRulesReview(rbac), ended: Promise.all(ended) };
}
