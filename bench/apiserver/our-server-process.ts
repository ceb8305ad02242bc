// The process behind startOurServer.
import { once } from 'node:events';
import {
  createApiServer,
  createCertificateAuthority,
  createSqliteStorage,
  issueCertificate,
} from '@asterism/apiserver';
import { ADMIN, USER } from './server-under-test.ts';

export interface OurServerConfig {
  file: string;
  synchronous: 'NORMAL' | 'FULL';
  adminToken: string;
  userToken: string;
}

export interface OurServerReady {
  url: string;
  /** PEM. */
  ca: string;
}

const [config] = (await once(process, 'message')) as [OurServerConfig];
const ca = await createCertificateAuthority({ commonName: 'bench-ca' });
const tls = await issueCertificate(ca, {
  commonName: 'kube-apiserver',
  dnsNames: ['localhost'],
  ipAddresses: ['127.0.0.1'],
  usages: ['server'],
  days: 1,
});
const server = createApiServer({
  storage: createSqliteStorage({ file: config.file, synchronous: config.synchronous }),
  listen: { host: '127.0.0.1', port: 0 },
  tls,
  clientCa: ca.cert,
  signer: ca,
  staticTokens: [
    { token: config.adminToken, ...ADMIN },
    { token: config.userToken, ...USER },
  ],
});
const stop = (): void => {
  void server.stop().then(() => process.exit(0));
};
process.on('SIGINT', () => {}); // The parent decides.
process.on('SIGTERM', stop);
process.on('disconnect', stop);
const { url } = await server.start();
process.send?.({ url, ca: ca.cert } satisfies OurServerReady);
