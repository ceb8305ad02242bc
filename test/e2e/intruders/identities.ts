import { createPrivateKey } from 'node:crypto';
import type { Client } from '@asterism/client';
import { issueCertificate, type KeyPair } from '@asterism/apiserver';
import { NAMESPACES, SECRETS, SERVICE_ACCOUNTS } from '@asterism/machinery';
import { SignJWT } from 'jose';
import { ask, type Credential, type Place } from './ask.ts';
import { MINE } from './furnish.ts';
import { CLIENT_ID, PROXY_NAME, type Stage, STATIC_TOKEN } from './stage.ts';

/** Somebody who got in by the front door, with few rights. */
export interface Identity {
  kind: string;
  username: string;
  credential: Credential;
  place: Place;
  /** An administrator of the server that he is at. */
  admin: Client;
  /** `insider`: all in a namespace of his own, and may write roles. `delegated`: likewise, by the roles of another server. */
  rights: 'insider' | 'delegated' | 'none';
}

/** The state of a server as a number that rises with each change of anything. */
export async function revisionOf(admin: Client): Promise<string> {
  const { metadata } = await admin.resource(NAMESPACES).list({ limit: 1 });
  return metadata?.resourceVersion ?? '';
}

/** One of each kind that the server knows. */
export async function openIdentities(stage: Stage): Promise<Identity[]> {
  const { server, proxyCa, behind } = stage;
  const here = { place: server, admin: server.client };
  const insider = (kind: string, username: string, credential: Credential): Identity => ({
    kind,
    username,
    credential,
    ...here,
    rights: 'insider',
  });
  const person = await clientCertificate(server.ca, 'cert', []);
  const node = await clientCertificate(server.ca, 'system:node:n1', ['system:nodes']);
  const proxy = await clientCertificate(proxyCa, PROXY_NAME, []);
  const proxied = { certificate: proxy, headers: { 'x-remote-user': 'proxied', 'x-remote-group': ['some'] } };
  const account = 'system:serviceaccount:mine:insider';
  return [
    insider('client certificate', 'cert', { certificate: person }),
    insider('bound service account token', account, { token: await boundToken(stage) }),
    insider('service account token of a Secret', account, { token: await secretToken(stage, 'legacy') }),
    insider('bootstrap token', 'system:bootstrap:abcdef', { token: await bootstrapToken(stage, 'abcdef', {}) }),
    insider('static token', 'static', { token: STATIC_TOKEN }),
    insider('ID token', 'oidc:oscar', { token: await stage.provider.sign(idClaims(stage)) }),
    insider('impersonation', 'mallory', {
      token: server.tokenFor({ username: 'impersonator', groups: [] }),
      headers: { 'impersonate-user': 'mallory' },
    }),
    {
      kind: 'front proxy',
      username: 'proxied',
      credential: proxied,
      place: behind,
      admin: behind.client,
      rights: 'delegated',
    },
    { kind: 'node', username: 'system:node:n1', credential: { certificate: node }, ...here, rights: 'none' },
    { kind: 'anonymous', username: 'system:anonymous', credential: {}, ...here, rights: 'none' },
  ];
}

export function clientCertificate(ca: KeyPair, commonName: string, organizations: string[]): Promise<KeyPair> {
  return issueCertificate(ca, { commonName, organizations, usages: ['client'], days: 1 });
}

/** The claims of an ID token that is good. */
export function idClaims({ provider }: Stage): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1000);
  return { iss: provider.issuerUrl, aud: CLIENT_ID, sub: 'oscar', groups: ['devs'], iat: now, exp: now + 3600 };
}

/** A token by TokenRequest, of the intruders' account or of another one. */
export async function boundToken(
  { server }: Stage,
  spec: { account?: string; boundObjectRef?: object; audiences?: string[] } = {},
): Promise<string> {
  const { account = 'insider', ...rest } = spec;
  const answer = await ask(
    server,
    { token: server.tokenFor({ username: 'root', groups: ['system:masters'] }) },
    {
      method: 'POST',
      path: `/api/v1/namespaces/${MINE}/serviceaccounts/${account}/token`,
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: rest },
    },
  );
  if (answer.status !== 201) throw new Error(`no token: ${answer.text}`);
  return (JSON.parse(answer.text) as { status: { token: string } }).status.token;
}

/** A Secret of old with a token in it, as the token controller makes one. */
export async function secretToken({ server, serviceAccountKey }: Stage, name: string): Promise<string> {
  const { metadata } = await server.client.resource(SERVICE_ACCOUNTS).get({ namespace: MINE, name: 'insider' });
  const prefix = 'kubernetes.io/serviceaccount/';
  const token = await new SignJWT({
    [`${prefix}namespace`]: MINE,
    [`${prefix}secret.name`]: name,
    [`${prefix}service-account.name`]: 'insider',
    [`${prefix}service-account.uid`]: metadata?.uid,
  })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuer('kubernetes/serviceaccount')
    .setSubject(`system:serviceaccount:${MINE}:insider`)
    .sign(createPrivateKey(serviceAccountKey));
  await server.client.resource(SECRETS).create({
    metadata: { name, namespace: MINE, annotations: { 'kubernetes.io/service-account.name': 'insider' } },
    type: 'kubernetes.io/service-account-token',
    stringData: { token },
  });
  return token;
}

/** A Secret with a bootstrap token, and `change` in what it holds. */
export async function bootstrapToken(
  { server }: Stage,
  id: string,
  change: Record<string, string>,
  place: { namespace?: string; type?: string } = {},
): Promise<string> {
  const { namespace = 'kube-system', type = 'bootstrap.kubernetes.io/token' } = place;
  await server.client.resource(SECRETS).create({
    metadata: { name: `bootstrap-token-${id}`, namespace },
    type,
    stringData: {
      'token-id': id,
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-authentication': 'true',
      ...change,
    },
  });
  return `${id}.0123456789abcdef`;
}
