import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, request as httpsRequest, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createCertificateAuthority, issueCertificate, type KeyPair } from '@asterism/apiserver';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { CLUSTER_ROLE_BINDINGS } from '@asterism/machinery';
import { Kubectl } from '../cluster/kubectl.ts';
import { requiredBinary, unlessThere } from '../cluster/real-kubernetes.ts';
import { RunFolder } from '../cluster/run-folder.ts';

const CLIENT = {
  client_id: 'kubernetes',
  client_secret: 'a-secret-of-this-test-alone',
  redirect: 'https://client.test/cb',
};

describe('people of an OpenID provider use kubectl', { skip: unlessThere('kubectl-1.36') }, () => {
  let run: RunFolder;
  let ca: KeyPair;
  let provider: Server;
  let issuerUrl: string;
  let server: TestServer;
  let idToken: string;

  before(async () => {
    run = await RunFolder.open();
    ca = await createCertificateAuthority({ commonName: 'provider-ca' });
    provider = await startProvider(ca);
    issuerUrl = `https://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    server = await startTestServer({
      oidc: [
        {
          issuerUrl,
          audiences: [CLIENT.client_id],
          ca: ca.cert,
          usernameClaim: 'email',
          usernamePrefix: 'oidc:',
          groupsClaim: 'groups',
          groupsPrefix: 'oidc:',
        },
      ],
    });
    idToken = await logIn(issuerUrl, ca.cert, 'carol');
  });

  after(async () => {
    provider?.closeAllConnections();
    provider?.close();
    await server?.stop();
    await run[Symbol.asyncDispose]();
  });

  async function kubectlWith(token: string): Promise<Kubectl> {
    const path = join(run.path, `${randomBytes(4).toString('hex')}.kubeconfig`);
    const caPath = join(run.path, 'provider-ca.crt');
    await writeFile(caPath, ca.cert);
    const provided = {
      'idp-issuer-url': issuerUrl,
      'idp-certificate-authority': caPath,
      'client-id': CLIENT.client_id,
      'client-secret': CLIENT.client_secret,
      'id-token': token,
    };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'c',
          cluster: { server: server.url, 'certificate-authority-data': Buffer.from(server.ca.cert).toString('base64') },
        },
      ],
      users: [{ name: 'u', user: { 'auth-provider': { name: 'oidc', config: provided } } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    await writeFile(path, JSON.stringify(config), { mode: 0o600 });
    return new Kubectl(requiredBinary('kubectl-1.36'), path, await run.folder('home'));
  }

  test('an ID token of the provider names the user and the groups, and RBAC decides', async () => {
    const kubectl = await kubectlWith(idToken);
    const who = JSON.parse(await kubectl.run(['auth', 'whoami', '-o', 'json'])) as {
      status: { userInfo: { username: string; groups: string[]; extra?: Record<string, string[]> } };
    };
    assert.equal(who.status.userInfo.username, 'oidc:carol@example.com');
    assert.deepEqual(who.status.userInfo.groups, ['oidc:devs', 'system:authenticated']);
    const refused = await kubectl.try(['get', 'namespaces']);
    assert.match(refused.stderr, /User "oidc:carol@example.com" cannot list resource "namespaces"/);
    const apiGroup = 'rbac.authorization.k8s.io';
    await server.client.resource(CLUSTER_ROLE_BINDINGS).create({
      metadata: { name: 'devs' },
      subjects: [{ apiGroup, kind: 'Group', name: 'oidc:devs' }],
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' },
    });
    assert.match(await kubectl.run(['get', 'namespaces', '-o', 'name']), /^namespace\/default$/m);
  });

  test('a token with another signature is nobody’s', async () => {
    const [header, payload, signature = ''] = idToken.split('.');
    const other = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    const { code, stderr } = await (await kubectlWith(`${header}.${payload}.${other}`)).try(['get', 'namespaces']);
    assert.equal(code, 1);
    assert.match(stderr, /You must be logged in to the server|Unauthorized/);
  });

  test('with the provider away, known keys are good and other users are not delayed', async () => {
    provider.closeAllConnections();
    await new Promise((resolve) => provider.close(resolve));
    assert.match(await (await kubectlWith(idToken)).run(['auth', 'whoami']), /oidc:carol@example.com/);
    const started = performance.now();
    await server.client.getJson('/version');
    assert.ok(performance.now() - started < 1_000);
  });
});

/** The parts of `oidc-provider` that the test uses: it brings no types. */
interface ProviderModule {
  default: new (issuer: string, configuration: object) => { callback(): Parameters<typeof createServer>[1] };
}

/** A real OpenID provider on a free port, where whoever names himself is let in. */
async function startProvider(ca: KeyPair): Promise<Server> {
  const tls = await issueCertificate(ca, {
    commonName: 'provider',
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
    days: 1,
  });
  const server = createServer(tls);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const name: string = 'oidc-provider';
  const { default: Provider } = (await import(name)) as ProviderModule;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const provider = new Provider(`https://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    clients: [
      {
        client_id: CLIENT.client_id,
        client_secret: CLIENT.client_secret,
        redirect_uris: [CLIENT.redirect],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    conformIdTokenClaims: false,
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: true, groups: ['devs'] }),
    }),
  });
  server.on('request', provider.callback()!);
  return server;
}

/** Goes through the provider's pages as a browser would, by the authorization code flow; gives the ID token. */
async function logIn(issuerUrl: string, ca: string, login: string): Promise<string> {
  const cookies = new Map<string, string>();
  const send = async (url: string, form?: Record<string, string>): Promise<{ location: string; text: string }> => {
    const body = form && new URLSearchParams(form).toString();
    const request = httpsRequest(url, {
      ca,
      agent: false,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
    });
    request.end(body);
    const [response] = await once(request, 'response');
    for (const line of response.headers['set-cookie'] ?? []) {
      const [, cookie = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') cookies.delete(cookie);
      else cookies.set(cookie, value);
    }
    let text = '';
    for await (const piece of response) text += String(piece);
    assert.ok(response.statusCode < 400, `${url} answered ${response.statusCode}: ${text.slice(0, 500)}`);
    const { location = '' } = response.headers;
    return { location: location === '' ? '' : new URL(location, url).href, text };
  };

  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    client_id: CLIENT.client_id,
    response_type: 'code',
    redirect_uri: CLIENT.redirect,
    scope: 'openid email groups',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  let { location } = await send(`${issuerUrl}/auth?${query.toString()}`);
  for (let step = 0; !location.startsWith(CLIENT.redirect); step += 1) {
    assert.ok(step < 10, `the provider does not come to an end: ${location}`);
    const page = await send(location);
    if (page.location !== '') {
      location = page.location;
      continue;
    }
    const prompt = page.text.includes('value="login"') ? 'login' : 'consent';
    ({ location } = await send(location, prompt === 'login' ? { prompt, login, password: 'any' } : { prompt }));
  }
  const { text } = await send(`${issuerUrl}/token`, {
    grant_type: 'authorization_code',
    code: new URL(location).searchParams.get('code') ?? '',
    redirect_uri: CLIENT.redirect,
    code_verifier: verifier,
    client_id: CLIENT.client_id,
    client_secret: CLIENT.client_secret,
  });
  return (JSON.parse(text) as { id_token: string }).id_token;
}
