import type { Client } from '@asterism/client';
import { type KubeObject, type Pod, SERVICE_ACCOUNTS } from '@asterism/machinery';

/** A token of a pod's service account that is valid for as long as the pod is there. */
export async function requestToken(
  client: Client,
  { metadata, spec }: Pod,
  { audience, expirationSeconds }: { audience?: string; expirationSeconds?: number },
): Promise<string> {
  const { namespace, name: podName, uid } = metadata ?? {};
  const request: KubeObject = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      ...(audience ? { audiences: [audience] } : {}),
      ...(expirationSeconds ? { expirationSeconds } : {}),
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: podName, uid },
    },
  };
  const name = spec?.serviceAccountName || 'default';
  const answer: KubeObject = await client
    .resource(SERVICE_ACCOUNTS)
    .create(request, { namespace, name, subresource: 'token' });
  return (answer['status'] as { token: string }).token;
}
