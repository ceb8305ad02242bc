import type { Client } from '@asterism/client';
import { CERTIFICATE_SIGNING_REQUESTS, type CertificateSigningRequest } from '@asterism/machinery';

/** Approves or denies the request, once: what was decided about it stays. */
export async function settleRequest(
  client: Client,
  request: CertificateSigningRequest,
  { approved, reason, message }: { approved: boolean; reason: string; message: string },
  signal: AbortSignal,
): Promise<void> {
  const conditions = request.status?.conditions ?? [];
  if (conditions.some(({ type }) => type === 'Approved' || type === 'Denied')) return;
  const type = approved ? 'Approved' : 'Denied';
  const status = { ...request.status, conditions: [...conditions, { type, status: 'True', reason, message }] };
  await client
    .resource(CERTIFICATE_SIGNING_REQUESTS)
    .update({ ...request, status }, { subresource: 'approval', signal });
}
