import { badRequest } from '@asterism/machinery';
import { createSignerCheck } from '../authorization/signer-check.ts';
import { createSubjectRestriction } from '../authorization/subject-restriction.ts';
import type { Authorization } from '../authorization/start-authorization.ts';
import type { Creation } from '../contract/creation.ts';
import type { Delegation } from '../contract/delegation.ts';
import type { AdmissionStep } from '../contract/admission-step.ts';

/** Authorization by a host: no roles of this server's own mean anything. */
export function delegatedAuthorization(
  { authorizer }: Delegation,
  { admission, privilegedGroups }: { admission: AdmissionStep[]; privilegedGroups: readonly string[] | undefined },
): Authorization {
  admission.push(createSignerCheck(authorizer), createSubjectRestriction(privilegedGroups));
  return { authorizer, rulesReview, ended: Promise.resolve() };
}

/** `SelfSubjectRulesReview`: the host is asked about one thing at a time, and says so as upstream's webhook mode does. */
const rulesReview: Creation = ({ object }) => {
  const { kind, apiVersion, metadata = {} } = object;
  const { namespace } = (object.spec ?? {}) as { namespace?: string };
  if (!namespace) throw badRequest('no namespace on request');
  const evaluationError = 'rules are kept by another API server, which is asked about one thing at a time';
  const status = { resourceRules: [], nonResourceRules: [], incomplete: true, evaluationError };
  return Promise.resolve({ kind: kind!, apiVersion: apiVersion!, metadata, spec: { namespace }, status });
};
