import { randomUUID } from 'node:crypto';
import { isJsonObject, type KubeObject, quoteGo, type Status } from '@asterism/machinery';
import type { UserInfo } from '../contract/user-info.ts';
import type { AdmissionAttributes } from '../registry/admission-attributes.ts';
import type { Invocation } from './match-webhook.ts';

/** What is sent to a webhook. */
export interface ReviewRequest {
  uid: string;
  version: 'v1' | 'v1beta1';
  review: object;
}

/** What a webhook said, as far as it was fit to be said. */
export interface ReviewAnswer {
  allowed: boolean;
  result: Partial<Status> | undefined;
  warnings: readonly string[];
  auditAnnotations: Readonly<Record<string, string>>;
  /** JSON; '' for none. */
  patch: string;
  patchType: string;
}

/** Why an answer is none, in upstream's words. */
export class ReviewFault extends Error {
  override readonly name = 'ReviewFault';
}

/** The AdmissionReview of a request, in the first version that the webhook takes and this server knows. */
export function createReview(
  invocation: Invocation,
  request: AdmissionAttributes,
  objects: { object: KubeObject | undefined; oldObject: KubeObject | undefined },
): ReviewRequest {
  const version = invocation.webhook.reviewVersions.find((each) => each === 'v1' || each === 'v1beta1');
  if (version === undefined) {
    throw new ReviewFault(
      'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
    );
  }
  const uid = randomUUID();
  return {
    uid,
    version: version as ReviewRequest['version'],
    review: {
      kind: 'AdmissionReview',
      apiVersion: `admission.k8s.io/${version}`,
      request: { uid, ...describeRequest(invocation, request), ...describeState(request, objects) },
    },
  };
}

/** What is asked for, and as what the webhook sees it. */
export function describeRequest({ resource, kind }: Invocation, request: AdmissionAttributes): Record<string, unknown> {
  const { subresource, name, namespace } = request;
  return {
    kind: { group: kind.group, version: kind.version, kind: kind.kind },
    resource: plainResource(resource.type),
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: { group: request.kind.group, version: request.kind.version, kind: request.kind.kind },
    requestResource: plainResource(request.resource.type),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation: request.operation,
    userInfo: plainUser(request.user),
  };
}

function describeState(
  { dryRun, options }: AdmissionAttributes,
  { object = null, oldObject = null }: { object?: KubeObject | null; oldObject?: KubeObject | null },
): Record<string, unknown> {
  return { object, oldObject, dryRun, options: options ?? null };
}

function plainResource({ group, version, resource }: { group: string; version: string; resource: string }) {
  return { group, version, resource };
}

function plainUser({ username, uid = '', groups, extra = {} }: UserInfo): Record<string, unknown> {
  return {
    username,
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

/** Reads what a webhook answered, a document that is an AdmissionReview by its types. */
export function readAnswer(
  document: Readonly<Record<string, unknown>>,
  { uid, version }: Pick<ReviewRequest, 'uid' | 'version'>,
  isMutating: boolean,
): ReviewAnswer {
  const response = document['response'] ?? undefined;
  if (!isJsonObject(response)) throw new ReviewFault('webhook response was absent');
  const patch = typeof response['patch'] === 'string' ? Buffer.from(response['patch'], 'base64').toString() : '';
  const patchType = typeof response['patchType'] === 'string' ? response['patchType'] : undefined;
  if (version === 'v1') requireSound(document, response, uid);
  if (version === 'v1' && isMutating) requirePatchPair(patch, patchType);
  if (version === 'v1' && !isMutating) refusePatch(patch, patchType);
  return {
    allowed: response['allowed'] === true,
    result: (response['status'] ?? undefined) as ReviewAnswer['result'],
    warnings: (response['warnings'] ?? []) as string[],
    auditAnnotations: (response['auditAnnotations'] ?? {}) as Record<string, string>,
    patch: isMutating ? patch : '',
    patchType: version === 'v1' ? (patchType ?? '') : 'JSONPatch',
  };
}

function requireSound(
  document: Readonly<Record<string, unknown>>,
  response: Record<string, unknown>,
  uid: string,
): void {
  const given = typeof response['uid'] === 'string' ? response['uid'] : '';
  if (given !== uid) throw new ReviewFault(`expected response.uid=${quoteGo(uid)}, got ${quoteGo(given)}`);
  const { apiVersion = '', kind = '' } = document as { apiVersion?: string; kind?: string };
  if (apiVersion !== 'admission.k8s.io/v1' || kind !== 'AdmissionReview') {
    const expected = 'admission.k8s.io/v1, Kind=AdmissionReview';
    const shown = `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
    throw new ReviewFault(`expected webhook response of ${expected}, got ${shown}`);
  }
}

function requirePatchPair(patch: string, patchType: string | undefined): void {
  if (patch !== '' && patchType === undefined) {
    throw new ReviewFault('webhook returned response.patch but not response.patchType');
  }
  if (patch === '' && patchType !== undefined) {
    throw new ReviewFault('webhook returned response.patchType but not response.patch');
  }
  if (patchType === '') throw new ReviewFault('webhook returned invalid response.patchType of ""');
}

function refusePatch(patch: string, patchType: string | undefined): void {
  if (patch !== '') throw new ReviewFault('validating webhook may not return response.patch');
  if (patchType !== undefined) throw new ReviewFault('validating webhook may not return response.patchType');
}
