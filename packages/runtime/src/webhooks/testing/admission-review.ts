import type { KubeObject } from '@asterism/machinery';
import { silentLogger } from '../../log/logger.ts';
import type { ReviewContext, Webhook } from '../webhook.ts';

/** The response of an AdmissionReview, as far as tests look at it. */
export interface AdmissionResponse {
  uid: string;
  allowed: boolean;
  status?: { code: number; reason: string; message: string; details?: { causes?: object[] } };
  patch?: string;
  patchType?: string;
  warnings?: string[];
  auditAnnotations?: Record<string, string>;
}

/** The review of a request that creates a ConfigMap, but for what `more` says. */
export function admissionReview(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'u1',
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
      requestResource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'a',
      namespace: 'n',
      operation: 'CREATE',
      userInfo: { username: 'alice', groups: ['g'] },
      dryRun: false,
      object: configMap({}),
      oldObject: null,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
      ...more,
    },
  };
}

export function configMap(data: Record<string, string>): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' }, data };
}

/** What a webhook answers, without a server. */
export async function ask(
  webhook: Webhook,
  review: unknown,
  context: Partial<ReviewContext> = {},
): Promise<AdmissionResponse> {
  const answer = await webhook.answer(review, { signal: AbortSignal.any([]), logger: silentLogger, ...context });
  return (answer as { response: AdmissionResponse }).response;
}
