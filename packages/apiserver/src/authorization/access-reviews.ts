import { failure, type FieldError, type FieldRequirement, invalid, type KubeObject } from '@asterism/machinery';
import type { UserInfo } from '../contract/user-info.ts';
import type { Creation } from '../contract/creation.ts';
import type { AuthorizationAttributes, Authorizer } from '../contract/authorizer.ts';

interface SelectorRequirement {
  key: string;
  operator: string;
  values?: string[];
}

interface ReviewSpec {
  user?: string;
  uid?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
  resourceAttributes?: {
    namespace?: string;
    verb?: string;
    group?: string;
    version?: string;
    resource?: string;
    subresource?: string;
    name?: string;
    fieldSelector?: { rawSelector?: string; requirements?: SelectorRequirement[] } | null;
    labelSelector?: unknown;
  } | null;
  nonResourceAttributes?: { path?: string; verb?: string } | null;
}

/** Every review of access, by resource. */
export function accessReviews(authorizer: Authorizer, rulesReview: Creation): [string, Creation][] {
  return [
    ['authorization.k8s.io/selfsubjectaccessreviews', createSelfSubjectAccessReview(authorizer)],
    ['authorization.k8s.io/subjectaccessreviews', createSubjectAccessReview(authorizer)],
    ['authorization.k8s.io/localsubjectaccessreviews', createLocalSubjectAccessReview(authorizer)],
    ['authorization.k8s.io/selfsubjectrulesreviews', rulesReview],
  ];
}

/** `SelfSubjectAccessReview`: may the caller do this? */
function createSelfSubjectAccessReview(authorizer: Authorizer): Creation {
  return async ({ object, user }) => {
    const spec = (object.spec ?? {}) as ReviewSpec;
    checkSpec(spec, [], checkMetadata(object, 'must be empty'));
    return await review(authorizer, object, spec, user);
  };
}

/** `SubjectAccessReview`: may that user do this? */
function createSubjectAccessReview(authorizer: Authorizer): Creation {
  return async ({ object }) => {
    const spec = (object.spec ?? {}) as ReviewSpec;
    checkSpec(spec, checkSubject(spec), checkMetadata(object, 'must be empty'));
    return await review(authorizer, object, spec, subjectOf(spec));
  };
}

/** `LocalSubjectAccessReview`: the same within one namespace, for those who may ask there alone. */
function createLocalSubjectAccessReview(authorizer: Authorizer): Creation {
  return async ({ object, namespace }) => {
    const spec = (object.spec ?? {}) as ReviewSpec;
    const further = checkMetadata(object, 'must be empty except for namespace', namespace);
    if (spec.resourceAttributes && (spec.resourceAttributes.namespace ?? '') !== namespace) {
      const value = JSON.stringify(spec.resourceAttributes.namespace ?? '');
      const message = `Invalid value: ${value}: must match metadata.namespace`;
      further.push({ type: 'FieldValueInvalid', field: 'spec.resourceAttributes.namespace', message });
    }
    if (spec.nonResourceAttributes) {
      const message = `Invalid value: ${JSON.stringify(spec.nonResourceAttributes)}: disallowed on this kind of request`;
      further.push({ type: 'FieldValueInvalid', field: 'spec.nonResourceAttributes', message });
    }
    checkSpec(spec, checkSubject(spec), further);
    return await review(authorizer, object, spec, subjectOf(spec));
  };
}

async function review(
  authorizer: Authorizer,
  { kind, apiVersion, metadata = {} }: KubeObject,
  spec: ReviewSpec,
  user: UserInfo,
): Promise<KubeObject> {
  const { allowed, reason } = await authorizer.authorize(attributesOf(spec, user));
  return { kind: kind!, apiVersion: apiVersion!, metadata, spec, status: { allowed, ...(reason ? { reason } : {}) } };
}

function subjectOf({ user = '', uid, groups = [], extra }: ReviewSpec): UserInfo {
  return { username: user, groups, ...(uid === undefined ? {} : { uid }), ...(extra === undefined ? {} : { extra }) };
}

function attributesOf(spec: ReviewSpec, user: UserInfo): AuthorizationAttributes {
  const { resourceAttributes, nonResourceAttributes } = spec;
  if (resourceAttributes) {
    const { verb = '', resource = '', fieldSelector, labelSelector: _, ...rest } = resourceAttributes;
    const requirements = (fieldSelector?.requirements ?? []).flatMap(readRequirement);
    return { user, verb, resource, ...rest, ...(requirements.length > 0 && { fieldSelector: requirements }) };
  }
  return { user, verb: nonResourceAttributes?.verb ?? '', path: nonResourceAttributes?.path ?? '' };
}

/** One of an operator or of more values than a field selector can have limits nothing. */
function readRequirement({ key, operator, values = [] }: SelectorRequirement): FieldRequirement[] {
  const [value] = values;
  if (value === undefined || values.length > 1 || (operator !== 'In' && operator !== 'NotIn')) return [];
  return [{ path: key, operator: operator === 'In' ? '=' : '!=', value }];
}

function checkSubject({ user, groups }: ReviewSpec): FieldError[] {
  if (user || (groups && groups.length > 0)) return [];
  const message = 'Invalid value: "": at least one of user or group must be specified';
  return [{ type: 'FieldValueInvalid', field: 'spec.user', message }];
}

/** Reviews have no names. */
function checkMetadata({ metadata = {} }: KubeObject, why: string, namespace?: string): FieldError[] {
  const { managedFields: _, namespace: own, ...rest } = metadata;
  if (Object.keys(rest).length === 0 && (own === undefined || own === namespace)) return [];
  const message = `Invalid value: ${JSON.stringify(metadata)}: ${why}`;
  return [{ type: 'FieldValueInvalid', field: 'metadata', message }];
}

/** `further`: what upstream tells after the faults of the spec. */
function checkSpec(spec: ReviewSpec, errors: readonly FieldError[], further: readonly FieldError[] = []): void {
  const faults = [...errors];
  if (spec.resourceAttributes && spec.nonResourceAttributes) {
    const message =
      'Invalid value: "nonResourceAttributes": cannot be specified in combination with resourceAttributes';
    faults.push({ type: 'FieldValueInvalid', field: 'spec.nonResourceAttributes', message });
  }
  if (!spec.resourceAttributes && !spec.nonResourceAttributes) {
    const message = 'Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified';
    faults.push({ type: 'FieldValueInvalid', field: 'spec.resourceAttributes', message });
  }
  faults.push(...further);
  if (faults.length === 0) return;
  // Upstream leaves the kind out of this refusal.
  const { message, status } = invalid({ group: 'authorization.k8s.io', kind: '' }, '', faults);
  const { kind: _, ...details } = status.details ?? {};
  throw failure(422, message, { details });
}
