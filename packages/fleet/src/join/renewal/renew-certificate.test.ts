import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCertificateAuthority, signRequest } from '@asterism/apiserver';
import { createAgentKey } from '../registration/create-certificate-request.ts';
import { agentCertificateRequest } from '../registration/request-registration.ts';
import { renewalTime, validityOf } from './renew-certificate.ts';

test('a certificate is renewed at two thirds of its life, which for a new one begins now', async () => {
  const ca = await createCertificateAuthority({ commonName: 'hub' });
  const { spec } = agentCertificateRequest('edge-1', createAgentKey(), { name: 'r' });
  const csr = Buffer.from(spec.request, 'base64').toString();
  const certificate = await signRequest(ca, csr, { usages: ['client'], seconds: 900, now: Date.now() });
  const { from, until } = validityOf(certificate);
  assert.equal(renewalTime(certificate, undefined), from + ((until - from) * 2) / 3);
  // As of a signer that dated it back.
  const now = until - 60_000;
  assert.equal(renewalTime(certificate, now), now + 40_000);
});
