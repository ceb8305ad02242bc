import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as httpsRequest, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { issueCertificate, type KeyPair } from '@asterism/apiserver';

/** Which the provider knows. */
export const CLIENT = {
  client_id: 'kubernetes',
  client_secret: 'a-secret-of-this-test-alone',
  redirect: 'https://client.test/cb',
};

/** The parts of `oidc-provider` that the test uses: it brings no types. */
interface ProviderModule {
  default: new (issuer: string, configuration: object) => { callback(): Parameters<typeof createServer>[1] };
}

/** A real OpenID provider on a free port, where whoever names himself is let in. */
export async function startProvider(ca: KeyPair): Promise<Server> {
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
export async function logIn(issuerUrl: string, ca: string, login: string): Promise<string> {
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
