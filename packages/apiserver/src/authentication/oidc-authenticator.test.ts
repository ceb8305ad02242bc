import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { exportJWK, type JWK, type JWTPayload, SignJWT } from 'jose';
import { createCertificateAuthority, issueCertificate, type KeyPair } from '../pki/index.ts';
import { startTestServer } from '../testing/index.ts';
import type { TokenAuthenticator } from '../contract/authenticator.ts';
import { createOidcAuthenticator } from './oidc-authenticator.ts';
import { checkOidcIssuers, type OidcIssuer } from './oidc-issuer.ts';

const KEYS = generateKeyPairSync('rsa', { modulusLength: 2048 });
const OTHER_KEYS = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** An OpenID provider as far as it is asked for keys. */
class FakeIssuer {
  readonly server: Server;
  keys: JWK[] = [];
  asked = 0;
  isDown = false;
  claimedIssuer: string | undefined;

  constructor(tls: KeyPair) {
    this.server = createServer(tls, (request, response) => {
      this.asked += 1;
      if (this.isDown) {
        response.writeHead(503).end();
        return;
      }
      const answer = request.url?.endsWith('/keys')
        ? { keys: this.keys }
        : { issuer: this.claimedIssuer ?? this.url, jwks_uri: `${this.url}/keys` };
      response.end(JSON.stringify(answer));
    });
  }

  get url(): string {
    return `https://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }
}

/** A certificate authority that has nothing to do with the issuer. */
const ROOT = (await createCertificateAuthority({ commonName: 'another' })).cert;

let ca: KeyPair;
let issuer: FakeIssuer;

async function publicJwk(key: KeyObject, kid: string): Promise<JWK> {
  return { ...(await exportJWK(key)), kid, alg: 'RS256', use: 'sig' };
}

function claims(change: JWTPayload = {}): JWTPayload {
  const now = Math.floor(Date.now() / 1000);
  return { iss: issuer.url, aud: 'kube', sub: 'carol', iat: now, exp: now + 600, ...change };
}

async function sign(
  payload: JWTPayload,
  { key = KEYS.privateKey, kid = 'one', alg = 'RS256' }: { key?: KeyObject; kid?: string; alg?: string } = {},
): Promise<string> {
  return await new SignJWT(payload).setProtectedHeader({ alg, kid }).sign(key);
}

function accept(change: Partial<OidcIssuer> = {}, now?: () => number): TokenAuthenticator {
  return createOidcAuthenticator({
    issuer: { issuerUrl: issuer.url, audiences: ['kube', 'other'], ca: ca.cert, ...change },
    audiences: ['https://api'],
    clock: Date.now,
    onError: () => {},
    ...(now === undefined ? {} : { now }),
  });
}

describe('ID tokens of an OpenID provider', () => {
  before(async () => {
    ca = await createCertificateAuthority({ commonName: 'oidc-ca' });
    const tls = await issueCertificate(ca, {
      commonName: 'issuer',
      ipAddresses: ['127.0.0.1'],
      usages: ['server'],
      days: 1,
    });
    issuer = new FakeIssuer(tls);
    issuer.server.listen(0, '127.0.0.1');
    await once(issuer.server, 'listening');
  });

  after(() => {
    issuer.server.closeAllConnections();
    issuer.server.close();
  });

  beforeEach(async () => {
    issuer.keys = [await publicJwk(KEYS.publicKey, 'one')];
    issuer.isDown = false;
    issuer.claimedIssuer = undefined;
    issuer.asked = 0;
  });

  const users: [name: string, settings: Partial<OidcIssuer>, claims: JWTPayload, expect: unknown][] = [
    ['the subject behind the issuer', {}, {}, () => ({ username: `${issuer.url}#carol`, groups: [] })],
    ['without a prefix', { usernamePrefix: '-' }, {}, { username: 'carol', groups: [] }],
    ['with one', { usernamePrefix: 'oidc:' }, {}, { username: 'oidc:carol', groups: [] }],
    ['an address', { usernameClaim: 'email' }, { email: 'c@x' }, { username: 'c@x', groups: [] }],
    [
      'a verified address',
      { usernameClaim: 'email' },
      { email: 'c@x', email_verified: true },
      { username: 'c@x', groups: [] },
    ],
    [
      'groups',
      { usernamePrefix: '-', groupsClaim: 'roles', groupsPrefix: 'oidc:' },
      { roles: ['a', 'b'] },
      { username: 'carol', groups: ['oidc:a', 'oidc:b'] },
    ],
    [
      'a single group',
      { usernamePrefix: '-', groupsClaim: 'roles' },
      { roles: 'a' },
      { username: 'carol', groups: ['a'] },
    ],
    [
      'uid, extra and the id of the token',
      { usernamePrefix: '-', uidClaim: 'sub', extra: [{ key: 'example.com/tenant', claim: 'tenant' }] },
      { tenant: 't', jti: '7' },
      {
        username: 'carol',
        groups: [],
        uid: 'carol',
        extra: { 'authentication.kubernetes.io/credential-id': ['JTI=7'], 'example.com/tenant': ['t'] },
      },
    ],
    [
      'one of several audiences',
      { usernamePrefix: '-' },
      { aud: ['else', 'other'] },
      { username: 'carol', groups: [] },
    ],
    [
      'a required claim',
      { usernamePrefix: '-', requiredClaims: { hd: 'x' } },
      { hd: 'x' },
      { username: 'carol', groups: [] },
    ],
  ];
  for (const [name, settings, change, expect] of users) {
    test(`name a user: ${name}`, async () => {
      const found = await accept(settings)(await sign(claims(change)));
      const user = typeof expect === 'function' ? (expect as () => unknown)() : expect;
      assert.deepEqual(found, { user, audiences: ['https://api'] });
    });
  }

  const past = Math.floor(Date.now() / 1000) - 5;
  const refused: [name: string, settings: Partial<OidcIssuer>, token: () => string | Promise<string>][] = [
    ['expired', {}, () => sign(claims({ exp: past }))],
    ['without an end', {}, () => sign(claims({ exp: undefined as unknown as number }))],
    ['not yet valid', {}, () => sign(claims({ nbf: past + 3600 }))],
    ['for somebody else', {}, () => sign(claims({ aud: 'else' }))],
    ['for nobody', {}, () => sign(claims({ aud: undefined as unknown as string }))],
    ['of another issuer', {}, () => sign(claims({ iss: 'https://elsewhere' }))],
    ['of a key that is not the issuer’s', {}, () => sign(claims(), { key: OTHER_KEYS.privateKey })],
    ['of an unknown key', {}, () => sign(claims(), { key: OTHER_KEYS.privateKey, kid: 'two' })],
    ['by another algorithm of the same key', {}, () => sign(claims(), { alg: 'PS256' })],
    ['without a signature', {}, () => unsigned({ alg: 'none' }, '')],
    ['without an algorithm, signed', {}, () => unsigned({ alg: 'none', kid: 'one' }, 'c2ln')],
    ['signed with the public key as a secret', {}, signedWithPublicKey],
    ['with critical parts that are not known', {}, () => unsigned({ alg: 'RS256', crit: ['x'], x: 1 }, 'c2ln')],
    ['without the name', { usernameClaim: 'login' }, () => sign(claims())],
    ['with a name that is no text', { usernameClaim: 'n' }, () => sign(claims({ n: 7 }))],
    [
      'of an address that is not verified',
      { usernameClaim: 'email' },
      () => sign(claims({ email: 'c@x', email_verified: false })),
    ],
    [
      'of an address that is verified in words',
      { usernameClaim: 'email' },
      () => sign(claims({ email: 'c@x', email_verified: 'true' })),
    ],
    ['with groups that are no texts', { groupsClaim: 'g' }, () => sign(claims({ g: [1] }))],
    ['without a required claim', { requiredClaims: { hd: 'x' } }, () => sign(claims())],
    ['with another value of it', { requiredClaims: { hd: 'x' } }, () => sign(claims({ hd: 'y' }))],
    ['an issuer with another certificate authority', { ca: ROOT }, () => sign(claims())],
  ];
  for (const [name, settings, token] of refused) {
    test(`open nothing: ${name}`, async () => {
      assert.equal(await accept(settings)(await token()), undefined);
    });
  }

  function unsigned(header: object, signature: string): string {
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    return `${encode(header)}.${encode(claims())}.${signature}`;
  }

  function signedWithPublicKey(): string {
    const secret = KEYS.publicKey.export({ type: 'spki', format: 'pem' });
    const text = unsigned({ alg: 'HS256', kid: 'one' }, '').slice(0, -1);
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
  }

  test('an issuer whose document is of another one is not believed', async () => {
    issuer.claimedIssuer = 'https://elsewhere';
    assert.equal(await accept()(await sign(claims())), undefined);
  });

  test('keys are read once, again for a key that is new, and not for each that is made up', async () => {
    let now = 0;
    const authenticate = accept({}, () => now);
    assert.ok(await authenticate(await sign(claims({ sub: 'a' }))));
    assert.ok(await authenticate(await sign(claims({ sub: 'b' }))));
    assert.equal(issuer.asked, 2);
    issuer.keys.push(await publicJwk(OTHER_KEYS.publicKey, 'two'));
    const token = await sign(claims(), { key: OTHER_KEYS.privateKey, kid: 'two' });
    assert.equal(await authenticate(token), undefined, 'too soon after the last try');
    now += 11_000;
    assert.ok(await authenticate(token));
    assert.equal(issuer.asked, 4);
    for (let i = 0; i < 5; i++)
      assert.equal(await authenticate(await sign(claims(), { kid: `made-up-${i}` })), undefined);
    assert.equal(issuer.asked, 4);
  });

  test('an issuer that is away is asked seldom, and its known keys stay good', async () => {
    let now = 0;
    const authenticate = accept({}, () => now);
    issuer.isDown = true;
    for (let i = 0; i < 3; i++) assert.equal(await authenticate(await sign(claims())), undefined);
    assert.equal(issuer.asked, 1);
    issuer.isDown = false;
    now += 11_000;
    assert.ok(await authenticate(await sign(claims())));
    issuer.isDown = true;
    now += 2 * 60 * 60 * 1000;
    const asked = once(issuer.server, 'request');
    assert.ok(await authenticate(await sign(claims({ sub: 'later' }))));
    await asked;
  });

  test('nobody with another kind of token waits for the issuer, and it is not asked', async () => {
    issuer.isDown = true;
    const authenticate = accept();
    for (const token of ['s3cret', 'a.b.c', await sign(claims({ iss: 'kubernetes/serviceaccount' }))]) {
      assert.equal(await authenticate(token), undefined);
    }
    assert.equal(issuer.asked, 0);
  });

  test('a server takes them for what RBAC says', async () => {
    const oidc = [
      { issuerUrl: issuer.url, audiences: ['kube'], ca: ca.cert, groupsClaim: 'groups', groupsPrefix: 'o:' },
    ];
    await using server = await startTestServer({ oidc });
    const token = await sign(claims({ groups: ['system:masters'] }));
    const status = { spec: { token }, apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' };
    const response = await server.client.request({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/tokenreviews',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(status),
    });
    const pieces: Buffer[] = [];
    for await (const piece of response.body) pieces.push(piece as Buffer);
    const review = JSON.parse(Buffer.concat(pieces).toString()) as { status: { user: unknown } };
    assert.deepEqual(review.status.user, {
      username: `${issuer.url}#carol`,
      groups: ['o:system:masters', 'system:authenticated'],
    });
  });
});

const wrong: [name: string, change: Partial<OidcIssuer>, message: RegExp][] = [
  ['http', { issuerUrl: 'http://issuer' }, /must be an https URL/],
  ['a password', { issuerUrl: 'https://a:s3cret@issuer' }, /^an oidc issuer: `issuerUrl` must be an https URL/],
  ['a query', { issuerUrl: 'https://issuer?x=1' }, /must be an https URL/],
  ['no audience', { audiences: [] }, /at least one client/],
  ['HS256', { signingAlgs: ['HS256'] }, /`signingAlgs` may be RS256/],
  ['none', { signingAlgs: ['none'] }, /`signingAlgs` may be RS256/],
  [
    'an extra of Kubernetes',
    { extra: [{ key: 'authentication.kubernetes.io/x', claim: 'x' }] },
    /`extra` .*of no domain of Kubernetes: "authentication/,
  ],
  [
    'an extra without a domain',
    { extra: [{ key: 'tenant', claim: 'x' }] },
    /`extra` must have keys as example.com.* "tenant" is none/,
  ],
];
for (const [name, change, message] of wrong) {
  test(`an issuer that cannot be meant is refused: ${name}`, () => {
    const one = { issuerUrl: 'https://issuer', audiences: ['a'], ...change };
    assert.throws(() => checkOidcIssuers([one]), { name: 'TypeError', message });
  });
}

test('an issuer is given once', () => {
  const one = { issuerUrl: 'https://issuer', audiences: ['a'] };
  assert.throws(() => checkOidcIssuers([one, one]), { message: /twice/ });
});
