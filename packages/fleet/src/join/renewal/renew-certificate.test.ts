import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCertificateAuthority, signRequest } from '@asterism/apiserver';
import { createAgentKey } from '../registration/create-certificate-request.ts';
import { agentCertificateRequest } from '../registration/request-registration.ts';
import { lifeOf, validityOf } from './renew-certificate.ts';

test('the life of a certificate begins now if it was issued now, whatever date its signer gave it', async () => {
  const ca = await createCertificateAuthority({ commonName: 'hub' });
  const { spec } = agentCertificateRequest('edge-1', createAgentKey(), { name: 'r' });
  const csr = Buffer.from(spec.request, 'base64').toString();
  const certificate = await signRequest(ca, csr, { usages: ['client'], seconds: 900, now: Date.now() });
  const { from, until } = validityOf(certificate);
  assert.deepEqual(lifeOf(certificate, undefined), { from, until });
  // As of a signer that dated it back.
  const now = until - 60_000;
  assert.deepEqual(lifeOf(certificate, now), { from: now, until });
});
