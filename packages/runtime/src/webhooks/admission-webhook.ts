import {
  badRequest,
  formatApiVersion,
  type GroupVersionKind,
  type JsonPatchOperation,
  type KubeObject,
  type ResourceType,
} from '@asterism/machinery';
import {
  type AdmissionOperation,
  type AdmissionRemarks,
  type AdmissionRequest,
  readAdmissionRequest,
  readOperation,
} from './admission-request.ts';
import { Denial } from './denial.ts';
import { answerReview, type Review, type ReviewKind, readReview } from './review.ts';
import { HandlerError, type Webhook } from './webhook.ts';

const ADMISSION_REVIEW: ReviewKind = {
  kind: 'AdmissionReview',
  apiVersions: ['admission.k8s.io/v1', 'admission.k8s.io/v1beta1'],
};

/** What a kind of admission webhooks has of its own. */
export interface AdmissionBehaviour<T extends KubeObject> {
  path: string;
  /** Other kinds are refused with 400. Undefined: any kind. */
  type: ResourceType<T> | undefined;
  /** Allowed without being asked about. */
  skipped: readonly AdmissionOperation[];
  /** Throwing means that it could not decide. */
  decide(request: AdmissionRequest<T>): Promise<Denial | readonly JsonPatchOperation[]>;
}

/** A webhook that answers AdmissionReviews. */
export function createAdmissionWebhook<T extends KubeObject>(behaviour: AdmissionBehaviour<T>): Webhook {
  const { path, type, skipped, decide } = behaviour;
  return {
    path,
    async answer(document, context) {
      const review = readReview(document, ADMISSION_REVIEW);
      if (skipped.includes(readOperation(review))) return answerReview(review, { allowed: true });
      const remarks: AdmissionRemarks = { warnings: [], auditAnnotations: {} };
      const request = readAdmissionRequest<T>(review, context, remarks);
      if (type) requireKind(request.kind, type);
      return answerReview(review, {
        ...describeDecision(await decideOrFail(decide, review, request), request),
        ...(remarks.warnings.length > 0 ? { warnings: remarks.warnings } : {}),
        ...(Object.keys(remarks.auditAnnotations).length > 0 ? { auditAnnotations: remarks.auditAnnotations } : {}),
      });
    },
  };
}

/** Where kubebuilder puts webhooks: `/validate-apps-v1-deployment`, `/mutate--v1-pod`. */
export function pathFor(
  prefix: 'validate' | 'mutate',
  type: ResourceType | undefined,
  path: string | undefined,
): string {
  if (path !== undefined) return path;
  if (!type) throw new TypeError('an admission webhook needs a type or a path');
  return `/${prefix}-${type.group.replaceAll('.', '-')}-${type.version}-${type.kind.toLowerCase()}`;
}

async function decideOrFail<T extends KubeObject>(
  decide: AdmissionBehaviour<T>['decide'],
  { uid }: Review,
  request: AdmissionRequest<T>,
): Promise<Denial | readonly JsonPatchOperation[]> {
  try {
    return await decide(request);
  } catch (cause) {
    const { operation, kind, subResource, namespace, name } = request;
    const about = { operation, kind: describeKind(kind), subResource, namespace, name };
    throw new HandlerError('the admission webhook failed', { uid, about, cause });
  }
}

function describeDecision(
  decision: Denial | readonly JsonPatchOperation[],
  asked: { kind: GroupVersionKind; name: string },
): object {
  if (decision instanceof Denial) return { allowed: false, status: decision.statusOf(asked) };
  if (decision.length === 0) return { allowed: true };
  const patch = Buffer.from(JSON.stringify(decision)).toString('base64');
  return { allowed: true, patchType: 'JSONPatch', patch };
}

function requireKind(given: GroupVersionKind, expected: GroupVersionKind): void {
  const { group, version, kind } = expected;
  if (given.group === group && given.version === version && given.kind === kind) return;
  throw badRequest(`this webhook is for ${describeKind(expected)}, not for ${describeKind(given)}: see its rules`);
}

function describeKind(kind: GroupVersionKind): string {
  return `${kind.kind} of ${formatApiVersion(kind)}`;
}
