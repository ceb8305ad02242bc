import { type FieldError, fieldInvalid, fieldRequired } from '@asterism/machinery';
import type { CustomResourceDefinition, DefinitionCondition } from './custom-resource-definition.ts';

const ANNOTATION = 'api-approved.kubernetes.io';
const SEE = 'see https://github.com/kubernetes/enhancements/pull/1111';

interface Approval {
  state: 'missing' | 'bypassed' | 'approved' | 'invalid';
  reason: string;
}

/** Whether a definition's group is one of Kubernetes' own, whose APIs need an approval (KEP-1111). */
function isProtected(group: string): boolean {
  return /^(?:.*\.)?(?:k8s|kubernetes)\.io$/.test(group);
}

function approvalOf({ metadata }: CustomResourceDefinition): Approval {
  const annotation = metadata?.annotations?.[ANNOTATION] ?? '';
  const must = `protected groups must have approval annotation "${ANNOTATION}"`;
  if (annotation === '') return { state: 'missing', reason: `${must}, ${SEE}` };
  if (annotation.startsWith('unapproved')) {
    return { state: 'bypassed', reason: `not approved: ${JSON.stringify(annotation)}` };
  }
  if (/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/]/.test(annotation) && URL.canParse(annotation)) {
    return { state: 'approved', reason: `approved in ${annotation}` };
  }
  return { state: 'invalid', reason: `${must} with either a URL or a reason starting with "unapproved", ${SEE}` };
}

/** A missing or malformed approval; what was so before may stay. */
export function validateApproval(definition: CustomResourceDefinition, old?: CustomResourceDefinition): FieldError[] {
  if (!isProtected(definition.spec?.group ?? '')) return [];
  const { state, reason } = approvalOf(definition);
  if (old && approvalOf(old).state === state) return [];
  const field = `metadata.annotations[${ANNOTATION}]`;
  if (state === 'missing') return [fieldRequired(field, reason)];
  return state === 'invalid' ? [fieldInvalid(field, definition.metadata?.annotations?.[ANNOTATION], reason)] : [];
}

const CONDITIONS = {
  missing: ['False', 'MissingAnnotation'],
  bypassed: ['False', 'UnapprovedAnnotation'],
  approved: ['True', 'ApprovedAnnotation'],
  invalid: ['False', 'InvalidAnnotation'],
} as const;

/** The condition that says it of a definition in a protected group; undefined for others. */
export function approvalCondition(definition: CustomResourceDefinition): DefinitionCondition | undefined {
  if (!isProtected(definition.spec?.group ?? '')) return undefined;
  const { state, reason: message } = approvalOf(definition);
  const [status, reason] = CONDITIONS[state];
  return { type: 'KubernetesAPIApprovalPolicyConformant', status, reason, message };
}
