import assert from 'node:assert/strict';
import { createHmac, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { newPrivateKey } from '@asterism/apiserver';
import { PODS, SECRETS, SERVICE_ACCOUNTS } from '@asterism/machinery';
import { SignJWT } from 'jose';
import { ask, type Credential } from './ask.ts';
import { type BadCredential, OWN_SECRET, WHO_AM_I } from './bad-credential.ts';
import { MINE } from './furnish.ts';
import { boundToken, secretToken } from './identities.ts';
import type { Stage } from './stage.ts';

type Claims = Record<string, unknown>;

/** A part of a JWT. */
export function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

export function now(): number {
  return Math.floor(Date.now() / 1000);
}

export function definedOf(claims: Claims): Claims {
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
}

/** A token that says of itself that it is signed with a shared secret, which is the public key. */
export function signedWithPublicKey(claims: Claims, publicKey: KeyObject, format: 'pem' | 'der'): Credential {
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  const secret = format === 'pem' ? pem : publicKey.export({ type: 'spki', format: 'der' });
  const text = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return { token: `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}` };
}

async function goodClaims(stage: Stage): Promise<Claims> {
  const [, claims = ''] = (await boundToken(stage)).split('.');
  return JSON.parse(Buffer.from(claims, 'base64url').toString()) as Claims;
}

/** A service account token that would be good with other claims. */
const withClaims =
  (claims: () => Claims) =>
  async (stage: Stage): Promise<Credential> =>
    await signed(stage, { claims: claims() });

async function signed(
  stage: Stage,
  { claims = {}, header = {}, key }: { claims?: Claims; header?: object; key?: string },
): Promise<Credential> {
  const token = await new SignJWT(definedOf({ ...(await goodClaims(stage)), ...claims }))
    .setProtectedHeader({ alg: 'ES256', ...header })
    .sign(createPrivateKey(key ?? stage.serviceAccountKey));
  return { token };
}

const unsigned =
  (alg: string, signature: string) =>
  async (stage: Stage): Promise<Credential> => ({
    token: `${encode({ alg })}.${encode(await goodClaims(stage))}.${signature}`,
  });

const withSecret =
  (format: 'pem' | 'der') =>
  async (stage: Stage): Promise<Credential> =>
    signedWithPublicKey(await goodClaims(stage), createPublicKey(stage.serviceAccountKey), format);

/** A good token, changed as a text. */
const altered =
  (change: (parts: string[], claims: Claims) => string[]) =>
  async (stage: Stage): Promise<Credential> => ({
    token: change((await boundToken(stage)).split('.'), await goodClaims(stage)).join('.'),
  });

const OTHER_ACCOUNT = 'system:serviceaccount:vault:keeper';

/** Tokens of service accounts that somebody made, or that were good once. */
export const ACCOUNT_TOKENS: BadCredential[] = [
  ['expired', withClaims(() => ({ exp: now() - 1, nbf: now() - 99 }))],
  ['without an end', withClaims(() => ({ exp: undefined }))],
  ['not good yet', withClaims(() => ({ nbf: now() + 3600 }))],
  ['of another issuer', withClaims(() => ({ iss: 'https://elsewhere' }))],
  ['of no issuer', withClaims(() => ({ iss: undefined }))],
  ['for another audience', async (stage) => ({ token: await boundToken(stage, { audiences: ['https://elsewhere'] }) })],
  ['for nobody', withClaims(() => ({ aud: undefined }))],
  ['for an account that it is not of', withClaims(() => ({ sub: OTHER_ACCOUNT }))],
  ['signed by somebody else', (stage) => signed(stage, { key: newPrivateKey() })],
  ['signed by somebody who brings his key', (stage) => signed(stage, bringingKey())],
  ['signed by nobody', unsigned('none', '')],
  ['signed by nobody, in other letters', unsigned('nOnE', 'x')],
  ['signed with the public key as PEM', withSecret('pem')],
  ['signed with the public key as DER', withSecret('der')],
  ['with other claims', altered(([head, , end], claims) => [head!, encode({ ...claims, sub: OTHER_ACCOUNT }), end!])],
  ['with a signature of zeros', altered(([head, claims]) => [head!, claims!, Buffer.alloc(64).toString('base64url')])],
  ['without a signature', altered((parts) => parts.slice(0, 2))],
  ['with more behind it', altered((parts) => [...parts, 'x'])],
  ['of an account that was deleted', (stage) => ofDeletedAccount(stage, 'gone')],
  ['of an account that was made again', (stage) => ofDeletedAccount(stage, 'again')],
  ['of a pod that was deleted', ofDeletedPod],
  ['of a Secret that was deleted', ofDeletedSecret],
  ['that stood in a Secret', (stage) => onceInSecret(stage, 'held-no-more', undefined)],
  ['that stands in its Secret no more', (stage) => onceInSecret(stage, 'changed', { stringData: { token: 'x' } })],
  [
    'that was taken back by a label',
    (stage) =>
      onceInSecret(stage, 'taken-back', {
        metadata: { labels: { 'kubernetes.io/legacy-token-invalid-since': '2026-01-01' } },
      }),
  ],
];

function bringingKey(): { key: string; header: object } {
  const key = newPrivateKey();
  return { key, header: { jwk: createPublicKey(key).export({ format: 'jwk' }) } };
}

/** It is good, and the server sees it: what it remembers of that must not outlive it. */
async function use({ server }: Stage, token: string): Promise<void> {
  const { status, text } = await ask(server, { token }, OWN_SECRET);
  assert.equal(status, 200, text);
}

async function ofDeletedAccount(stage: Stage, name: 'gone' | 'again'): Promise<Credential> {
  const accounts = stage.server.client.resource(SERVICE_ACCOUNTS);
  const metadata = { name, namespace: MINE };
  await accounts.create({ metadata });
  const token = await boundToken(stage, { account: name });
  assert.equal((await ask(stage.server, { token }, WHO_AM_I)).status, 201);
  await accounts.delete(metadata);
  if (name === 'again') await accounts.create({ metadata });
  return { token };
}

async function ofDeletedPod(stage: Stage): Promise<Credential> {
  const pods = stage.server.client.resource(PODS);
  const metadata = { name: 'short-lived', namespace: MINE };
  const spec = { serviceAccountName: 'insider', containers: [{ name: 'c', image: 'x' }] };
  await pods.create({ metadata, spec });
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: metadata.name };
  const token = await boundToken(stage, { boundObjectRef });
  await use(stage, token);
  await pods.delete(metadata, { gracePeriodSeconds: 0 });
  return { token };
}

async function ofDeletedSecret(stage: Stage): Promise<Credential> {
  const secrets = stage.server.client.resource(SECRETS);
  const metadata = { name: 'bound-to', namespace: MINE };
  await secrets.create({ metadata });
  const token = await boundToken(stage, { boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: metadata.name } });
  await use(stage, token);
  await secrets.delete(metadata);
  return { token };
}

/** Of a Secret that was then changed, or deleted. */
async function onceInSecret(stage: Stage, name: string, change: object | undefined): Promise<Credential> {
  const secrets = stage.server.client.resource(SECRETS);
  const token = await secretToken(stage, name);
  await use(stage, token);
  const ref = { name, namespace: MINE };
  if (change === undefined) await secrets.delete(ref);
  else await secrets.patch(ref, { type: 'merge', body: change });
  return { token };
}
