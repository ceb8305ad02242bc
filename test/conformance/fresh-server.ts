import { Agent } from 'node:https';
import {
  createApiServer,
  createCertificateAuthority,
  createMemoryStorage,
  issueCertificate,
  newPrivateKey,
} from '@asterism/apiserver';
import { mulberry32 } from '../soak/mulberry32.ts';
import type { Target } from './send-request.ts';

export interface FreshServer extends AsyncDisposable {
  url: string;
  target: Target;
}

const ISSUER = 'https://kubernetes.default.svc';

/** An API server as the recordings had it: their users and settings, and nothing behind it that works on its objects. */
export async function startFreshServer(listen = { host: '127.0.0.1', port: 0 }): Promise<FreshServer> {
  const ca = await createCertificateAuthority({ commonName: 'conformance-ca' });
  const isAddress = /^[\d.]+$|:/.test(listen.host);
  const tls = await issueCertificate(ca, {
    commonName: 'kube-apiserver',
    dnsNames: isAddress ? ['localhost'] : ['localhost', listen.host],
    ipAddresses: isAddress ? [...new Set(['127.0.0.1', listen.host])] : ['127.0.0.1'],
    usages: ['server'],
    days: 1,
  });
  const server = createApiServer({
    storage: createMemoryStorage(),
    listen,
    tls,
    clientCa: ca.cert,
    controllers: false,
    admissionPlugins: { disable: ['ServiceAccount'] },
    advertiseAddress: 'none',
    legacyVersions: false,
    bootstrapTokens: true,
    serviceAccounts: { issuer: ISSUER, key: newPrivateKey() },
    serviceAddressRange: '10.0.0.0/24',
    // Some recorded Services ask for an address, which another must not have got by chance.
    random: mulberry32(1),
    staticTokens: [
      { token: 'admin-token', username: 'admin', uid: 'uid-admin', groups: ['system:masters'] },
      { token: 'alice-token', username: 'alice', uid: 'uid-alice', groups: ['devs'] },
      { token: 'bob-token', username: 'bob', uid: 'uid-bob', groups: [] },
    ],
  });
  const { host, port, url } = await server.start();
  const agent = new Agent({ keepAlive: true, ca: ca.cert });
  return {
    url,
    target: { host, port, ca: ca.cert, agent },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      await server.stop();
    },
  };
}
