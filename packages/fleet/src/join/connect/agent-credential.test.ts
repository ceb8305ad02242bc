import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createCertificateAuthority, type KeyPair, signRequest } from '@asterism/apiserver';
import { createAgentKey, createCertificateRequest } from '../registration/create-certificate-request.ts';
import { type AgentCredential, isUsable } from './agent-credential.ts';

describe('whether a kept credential can be used', () => {
  const key = createAgentKey();
  const now = Date.now();
  let ca: KeyPair;
  let other: KeyPair;
  let credential: AgentCredential;

  before(async () => {
    ca = await createCertificateAuthority({ commonName: 'hub' });
    other = await createCertificateAuthority({ commonName: 'hub' });
    const csr = createCertificateRequest(key, { commonName: 'a', organizations: ['b'] });
    const certificate = await signRequest(ca, csr, { usages: ['client'], seconds: 600, now });
    credential = { key, certificate, authority: ca.cert, request: 'r' };
  });

  const rows: [string, (whole: AgentCredential) => boolean, boolean][] = [
    ['whole and in time', (whole) => isUsable(whole, ca.cert, now), true],
    ['none', () => isUsable(undefined, ca.cert, now), false],
    ['a request that is under way', (whole) => isUsable({ ...whole, certificate: undefined }, ca.cert, now), false],
    ['ended', (whole) => isUsable(whole, ca.cert, now + 601_000), false],
    ['of another hub', (whole) => isUsable(whole, other.cert, now), false],
    ['for another key', (whole) => isUsable({ ...whole, key: createAgentKey() }, ca.cert, now), false],
  ];
  for (const [name, usable, expected] of rows) {
    test(name, () => assert.equal(usable(credential), expected));
  }
});
