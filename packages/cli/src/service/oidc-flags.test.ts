import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createCertificateAuthority } from '@asterism/apiserver';
import { CommandError, EXIT } from '../exit-code.ts';
import { type OidcFlags, readOidcFlags } from './oidc-flags.ts';

const LEAST = { oidcIssuerUrl: 'https://login.example.com/realms/a', oidcClientId: 'asterism' };

test('without flags there is no provider', async () => {
  assert.equal(await readOidcFlags({}), undefined);
});

test('the least that names one', async () => {
  assert.deepEqual(await readOidcFlags(LEAST), { issuerUrl: LEAST.oidcIssuerUrl, audiences: ['asterism'] });
});

test('everything: claims with their values as they are, and the authority from its file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'asterism-oidc-flags-'));
  try {
    const oidcCaFile = join(folder, 'ca.crt');
    const { cert } = await createCertificateAuthority({ commonName: 'provider' });
    await writeFile(oidcCaFile, cert);
    const flags: OidcFlags = {
      ...LEAST,
      oidcUsernameClaim: 'email',
      oidcUsernamePrefix: '-',
      oidcGroupsClaim: 'groups',
      oidcGroupsPrefix: 'oidc:',
      oidcRequiredClaim: ['hd=example.com', 'scope=a,b=c', '__proto__=x'],
      oidcCaFile,
      oidcSigningAlgs: 'RS256, ES256',
    };
    assert.deepEqual(await readOidcFlags(flags), {
      issuerUrl: LEAST.oidcIssuerUrl,
      audiences: ['asterism'],
      usernameClaim: 'email',
      usernamePrefix: '-',
      groupsClaim: 'groups',
      groupsPrefix: 'oidc:',
      requiredClaims: Object.fromEntries([
        ['hd', 'example.com'],
        ['scope', 'a,b=c'],
        ['__proto__', 'x'],
      ]),
      signingAlgs: ['RS256', 'ES256'],
      ca: cert,
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});

const faults: [name: string, flags: OidcFlags, message: RegExp][] = [
  [
    'a client of no provider',
    { oidcClientId: 'a' },
    /^--oidc-issuer-url: is missing: without it --oidc-client-id says/,
  ],
  ['a file of no provider', { oidcCaFile: 'a' }, /^--oidc-issuer-url: is missing: without it --oidc-ca-file says/],
  ['no client', { oidcIssuerUrl: LEAST.oidcIssuerUrl }, /^--oidc-client-id: is missing/],
  ['an empty client', { ...LEAST, oidcClientId: '' }, /^--oidc-client-id: must name at least one client/],
  ['http', { ...LEAST, oidcIssuerUrl: 'http://login' }, /^--oidc-issuer-url: must be an https URL without/],
  ['no URL', { ...LEAST, oidcIssuerUrl: 'login.example.com' }, /^--oidc-issuer-url: must be an https URL without/],
  ['a password', { ...LEAST, oidcIssuerUrl: 'https://a:s3cret@b' }, /^--oidc-issuer-url: (?!.*s3cret)must be/],
  ['a claim without a name', { ...LEAST, oidcUsernameClaim: '' }, /^--oidc-username-claim: it is empty/],
  ['groups without a name', { ...LEAST, oidcGroupsClaim: '' }, /^--oidc-groups-claim: it is empty/],
  [
    'a prefix of no groups',
    { ...LEAST, oidcGroupsPrefix: 'x:' },
    /^--oidc-groups-prefix: says nothing without --oidc-g/,
  ],
  ['no value', { ...LEAST, oidcRequiredClaim: ['hd'] }, /^--oidc-required-claim: "hd" is not CLAIM=VALUE/],
  ['no claim', { ...LEAST, oidcRequiredClaim: ['=x'] }, /^--oidc-required-claim: "=x" is not CLAIM=VALUE/],
  ['a claim twice', { ...LEAST, oidcRequiredClaim: ['a=1', 'a=2'] }, /^--oidc-required-claim: "a" is there twice/],
  ['a shared secret', { ...LEAST, oidcSigningAlgs: 'RS256,HS256' }, /^--oidc-signing-algs: may be RS256, /],
  ['no algorithm', { ...LEAST, oidcSigningAlgs: '' }, /^--oidc-signing-algs: may be RS256, /],
  ['a file that is not there', { ...LEAST, oidcCaFile: '/none' }, /^--oidc-ca-file: \/none cannot be read \(ENOENT\)/],
  ['a file that is something else', { ...LEAST, oidcCaFile: '/dev/null' }, /^--oidc-ca-file: .* holds no certificate/],
];

for (const [name, flags, message] of faults) {
  test(`refused as wrong usage: ${name}`, async () => {
    await assert.rejects(
      readOidcFlags(flags),
      (error: unknown) => error instanceof CommandError && error.exitCode === EXIT.usage && message.test(error.message),
    );
  });
}
