import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createCertificateAuthority, issueCertificate } from '@asterism/apiserver';
import { SignJWT } from 'jose';

/** The keys of an OpenID provider, served as one serves them. */
export interface Provider extends AsyncDisposable {
  issuerUrl: string;
  ca: string;
  publicKey: KeyObject;
  sign(claims: Record<string, unknown>): Promise<string>;
}

export async function startProvider(): Promise<Provider> {
  const ca = await createCertificateAuthority({ commonName: 'provider-ca' });
  const names = { commonName: 'provider', ipAddresses: ['127.0.0.1'] };
  const server = createServer(await issueCertificate(ca, { ...names, usages: ['server'], days: 1 }));
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuerUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' };
  server.on('request', (request, response) => {
    response.setHeader('content-type', 'application/json');
    const isKeys = request.url === '/keys';
    response.end(JSON.stringify(isKeys ? { keys: [jwk] } : { issuer: issuerUrl, jwks_uri: `${issuerUrl}/keys` }));
  });
  return {
    issuerUrl,
    ca: ca.cert,
    publicKey,
    sign: (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(privateKey),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
