import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { createCertificateAuthority, issueCertificate, type KeyPair } from '@asterism/apiserver';
import { SECRETS } from '@asterism/machinery';
import { SignJWT } from 'jose';
import { ask, type Credential } from './ask.ts';
import { type BadCredential, OWN_SECRET, WHO_AM_I } from './bad-credential.ts';
import { definedOf, encode, now, signedWithPublicKey } from './forged-tokens.ts';
import { MINE } from './furnish.ts';
import { bootstrapToken, clientCertificate, idClaims } from './identities.ts';
import { ISSUER, PROXY_NAME, type Stage, STATIC_TOKEN } from './stage.ts';

const DAY_MS = 86_400_000;
const NOBODY: { expect: [number, string] } = { expect: [403, 'Forbidden'] };

const show = (credential: Credential) => (): Promise<Credential> => Promise.resolve(credential);

const bootstrap =
  (id: string, change: Record<string, string>, place = {}) =>
  async (stage: Stage): Promise<Credential> => ({ token: await bootstrapToken(stage, id, change, place) });

async function deletedBootstrapToken(stage: Stage): Promise<Credential> {
  const token = await bootstrapToken(stage, 'aaaab2', {});
  assert.equal((await ask(stage.server, { token }, WHO_AM_I)).status, 201);
  const ref = { name: 'bootstrap-token-aaaab2', namespace: 'kube-system' };
  await stage.server.client.resource(SECRETS).delete(ref);
  return { token };
}

const PASSWORD = Buffer.from(`x:${STATIC_TOKEN}`).toString('base64');
const IN_ADDRESS = { path: `${OWN_SECRET.path}?access_token=${STATIC_TOKEN}&token=${STATIC_TOKEN}` };

/** Bootstrap and static tokens, and tokens in places where none is looked for. */
export const OTHER_TOKENS: BadCredential[] = [
  ['a bootstrap token that has expired', bootstrap('aaaaa1', { expiration: '2020-01-01T00:00:00Z' })],
  ['one with an end that is none', bootstrap('aaaaa2', { expiration: 'soon' })],
  ['one that is not for authentication', bootstrap('aaaaa3', { 'usage-bootstrap-authentication': 'false' })],
  ['one that does not say what it is for', bootstrap('aaaaa4', { 'usage-bootstrap-authentication': '' })],
  ['one with another secret', bootstrap('aaaaa5', { 'token-secret': 'ffffffffffffffff' })],
  ['one of another id', bootstrap('aaaaa6', { 'token-id': 'aaaaa7' })],
  ['one of a group of administrators', bootstrap('aaaaa8', { 'auth-extra-groups': 'system:masters' })],
  ['one in a Secret of another type', bootstrap('aaaaa9', {}, { type: 'Opaque' })],
  ['one in another namespace', bootstrap('aaaab1', {}, { namespace: MINE })],
  ['one that was deleted', deletedBootstrapToken],
  ['a part of a static token', show({ token: STATIC_TOKEN.slice(0, -1) })],
  ['a static token and more', show({ token: `${STATIC_TOKEN}x` })],
  ['a static token in other letters', show({ token: STATIC_TOKEN.toUpperCase() })],
  ['the name of what every object has', show({ token: '__proto__' })],
  ['a token of 60 KB', show({ token: 'a.b.c'.padEnd(60 * 1024, 'x') })],
  ['a token of 900 KB', show({ token: 'a.b.c'.padEnd(900 * 1024, 'x') })],
  ['no token in its place', show({ headers: { authorization: 'Bearer ' } }), NOBODY],
  ['a token as a password', show({ headers: { authorization: `Basic ${PASSWORD}` } }), NOBODY],
  ['a token in the address', show({}), { ...NOBODY, question: IN_ADDRESS }],
  ['a token in a cookie', show({ headers: { cookie: `token=${STATIC_TOKEN}` } }), NOBODY],
  [
    'a user of one’s own in headers',
    show({ headers: { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters', 'x-forwarded-user': 'admin' } }),
    NOBODY,
  ],
];

const idToken =
  (change: (stage: Stage) => Record<string, unknown>) =>
  async (stage: Stage): Promise<Credential> => ({
    token: await stage.provider.sign(definedOf({ ...idClaims(stage), ...change(stage) })),
  });

const idTokenWithSecret =
  (format: 'pem' | 'der') =>
  (stage: Stage): Promise<Credential> =>
    Promise.resolve(signedWithPublicKey(idClaims(stage), stage.provider.publicKey, format));

async function idTokenOfAnotherKey(stage: Stage): Promise<Credential> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const token = await new SignJWT(idClaims(stage)).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(privateKey);
  return { token };
}

/** Tokens of an OpenID provider. */
export const ID_TOKENS: BadCredential[] = [
  ['expired', idToken(() => ({ exp: now() - 1 }))],
  ['without an end', idToken(() => ({ exp: undefined }))],
  ['not good yet', idToken(() => ({ nbf: now() + 3600 }))],
  ['of another issuer', idToken(() => ({ iss: 'https://elsewhere' }))],
  ['of an issuer with a slash more', idToken(({ provider }) => ({ iss: `${provider.issuerUrl}/` }))],
  ['for another client', idToken(() => ({ aud: 'another' }))],
  ['for nobody', idToken(() => ({ aud: undefined }))],
  ['of nobody', idToken(() => ({ sub: undefined }))],
  ['of a list', idToken(() => ({ sub: ['oscar'] }))],
  ['by a provider that says it is the server', idToken(() => ({ iss: ISSUER, aud: [ISSUER] }))],
  [
    'signed by nobody',
    (stage) => Promise.resolve({ token: `${encode({ alg: 'none', kid: 'one' })}.${encode(idClaims(stage))}.` }),
  ],
  ['signed with the public key as PEM', idTokenWithSecret('pem')],
  ['signed with the public key as DER', idTokenWithSecret('der')],
  ['signed by another key of that name', idTokenOfAnotherKey],
];

type Authority = 'users' | 'proxy' | 'another';
type Change = { usages?: ('client' | 'server')[]; since?: number };

/** A certificate with headers that claim to be an administrator's. */
const certificate =
  (authority: Authority, commonName: string, { usages = ['client'], since = 0 }: Change = {}) =>
  async ({ server, proxyCa }: Stage): Promise<Credential> => {
    const name = 'test-ca';
    const authorities: Record<Authority, () => KeyPair | Promise<KeyPair>> = {
      users: () => server.ca,
      proxy: () => proxyCa,
      another: () => createCertificateAuthority({ commonName: name }),
    };
    const organizations = authority === 'another' ? ['system:masters'] : [];
    const subject = { commonName, organizations, usages, days: 1, now: Date.now() + since };
    return { certificate: await issueCertificate(await authorities[authority](), subject), headers: AS_ADMIN };
  };

const AS_ADMIN = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' };

async function signedByLeaf({ server }: Stage): Promise<Credential> {
  const between = await clientCertificate(server.ca, 'cert', []);
  return { certificate: await clientCertificate(between, 'admin', ['system:masters']) };
}

/** At a server that knows people by their certificates. */
export const CERTIFICATES: BadCredential[] = [
  ['of another authority of the same name', certificate('another', 'admin')],
  ['that has expired', certificate('users', 'cert', { since: -3 * DAY_MS })],
  ['that is not good yet', certificate('users', 'cert', { since: DAY_MS })],
  ['for servers', certificate('users', 'cert', { usages: ['server'] })],
  ['of a front proxy that this server does not have', certificate('proxy', PROXY_NAME)],
  ['signed by one that may not sign', signedByLeaf],
];

const proxyWithoutUser = async ({ proxyCa }: Stage): Promise<Credential> => ({
  certificate: await clientCertificate(proxyCa, PROXY_NAME, []),
  headers: { 'x-remote-group': 'system:masters' },
});

const userWithHeaders = ({ server }: Stage): Promise<Credential> =>
  Promise.resolve({ token: server.tokenFor({ username: 'eve', groups: [] }), headers: AS_ADMIN });

/** At a server that trusts a front proxy. */
export const FRONT_PROXY: BadCredential[] = [
  ['without a certificate', show({ headers: AS_ADMIN }), NOBODY],
  ['by a user with a certificate', certificate('users', 'eve'), { ...NOBODY, himself: 'eve' }],
  ['by a user of the proxy’s name', certificate('users', PROXY_NAME), { ...NOBODY, himself: PROXY_NAME }],
  ['with a certificate of another authority', certificate('another', PROXY_NAME)],
  ['with one of the proxy’s authority and another name', certificate('proxy', 'somebody')],
  ['with one that has expired', certificate('proxy', PROXY_NAME, { since: -3 * DAY_MS })],
  ['with one for servers', certificate('proxy', PROXY_NAME, { usages: ['server'] })],
  ['with the proxy’s own and no user', proxyWithoutUser],
  ['with a token of a user', userWithHeaders, { ...NOBODY, himself: 'eve' }],
];
