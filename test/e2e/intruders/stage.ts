import { type Client, createClient } from '@asterism/client';
import {
  createApiServer,
  createCertificateAuthority,
  createDelegation,
  createMemoryStorage,
  issueCertificate,
  type KeyPair,
  newPrivateKey,
} from '@asterism/apiserver';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { CONFIG_MAPS } from '@asterism/machinery';
import type { Place } from './ask.ts';
import { furnish } from './furnish.ts';
import { type Provider, startProvider } from './provider.ts';

export const ISSUER = 'https://kubernetes.default.svc';
export const CLIENT_ID = 'kubernetes';
export const STATIC_TOKEN = 'static-token-of-an-intruder';
/** The name that a front proxy's certificate must bear. */
export const PROXY_NAME = 'front-proxy-client';

/** Users that have an insider's rights by their names. */
const INSIDERS = [
  'cert',
  'static',
  'oidc:oscar',
  'mallory',
  'proxied',
  'system:serviceaccount:mine:insider',
  'system:bootstrap:abcdef',
];

/** A server with something worth stealing, and a second one behind its front proxy with the same. */
export interface Stage extends AsyncDisposable {
  server: TestServer;
  provider: Provider;
  serviceAccountKey: string;
  proxyCa: KeyPair;
  behind: Place & { client: Client };
}

export async function openStage(): Promise<Stage> {
  await using parts = new AsyncDisposableStack();
  const provider = parts.use(await startProvider());
  const serviceAccountKey = newPrivateKey();
  const server = parts.use(
    await startTestServer({
      controllers: false,
      serviceAccounts: { issuer: ISSUER, key: serviceAccountKey },
      staticTokens: [{ token: STATIC_TOKEN, username: 'static', groups: [] }],
      oidc: [
        {
          issuerUrl: provider.issuerUrl,
          audiences: [CLIENT_ID],
          ca: provider.ca,
          usernamePrefix: 'oidc:',
          groupsClaim: 'groups',
          groupsPrefix: 'oidc:',
        },
      ],
    }),
  );
  await furnish(server.client, INSIDERS);
  const proxyCa = await createCertificateAuthority({ commonName: 'front-proxy-ca' });
  const behind = await startBehind(server, proxyCa, parts);
  await furnish(behind.client, INSIDERS);
  const kept = parts.move();
  const dispose = (): Promise<void> => kept.disposeAsync();
  return { server, provider, serviceAccountKey, proxyCa, behind, [Symbol.asyncDispose]: dispose };
}

/** Knows callers by the word of the first one's front proxy, and asks that one what they may do. */
async function startBehind(
  host: TestServer,
  proxyCa: KeyPair,
  parts: AsyncDisposableStack,
): Promise<Place & { client: Client }> {
  await host.client.resource(CONFIG_MAPS).update({
    metadata: { namespace: 'kube-system', name: 'extension-apiserver-authentication' },
    data: {
      'client-ca-file': host.ca.cert,
      'requestheader-client-ca-file': proxyCa.cert,
      'requestheader-allowed-names': JSON.stringify([PROXY_NAME]),
      'requestheader-username-headers': '["X-Remote-User"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    },
  });
  const delegation = parts.use(await createDelegation({ client: host.client }));
  const ca = await createCertificateAuthority({ commonName: 'serving-ca' });
  const names = { commonName: 'behind', ipAddresses: ['127.0.0.1'] };
  const server = createApiServer({
    storage: createMemoryStorage(),
    controllers: false,
    delegation,
    listen: { host: '127.0.0.1', port: 0 },
    tls: await issueCertificate(ca, { ...names, usages: ['server'], days: 1 }),
  });
  parts.defer(() => server.stop());
  const { url } = await server.start();
  const root = { username: 'root', groups: ['system:masters'] };
  return { url, ca, client: createClient({ transport: server.transport(root) }) };
}
