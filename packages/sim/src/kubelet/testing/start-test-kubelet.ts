import { connect, type TLSSocket } from 'node:tls';
import { once } from 'node:events';
import { createCertificateAuthority, issueCertificate, type KeyPair } from '@asterism/apiserver';
import { systemClock } from '@asterism/client';
import { type Kubelet, startKubelet } from '../kubelet.ts';
import { FakeBackend } from './fake-backend.ts';

/** A kubelet over a fake backend, and ways to reach it as a kube-apiserver would and should not. */
export interface TestKubelet extends AsyncDisposable {
  backend: FakeBackend;
  kubelet: Kubelet;
  /** A TLS connection; `as` is the certificate that it shows. */
  connect(as?: 'apiserver' | 'stranger' | 'nobody'): Promise<TLSSocket>;
}

export async function startTestKubelet(): Promise<TestKubelet> {
  const ca = await createCertificateAuthority({ commonName: 'kubelet' });
  const serving = await issueCertificate(ca, {
    commonName: 'node',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
    days: 1,
  });
  const subject = { commonName: 'kube-apiserver', usages: ['client' as const], days: 1 };
  const certificates: Record<'apiserver' | 'stranger' | 'nobody', KeyPair | undefined> = {
    apiserver: await issueCertificate(ca, subject),
    stranger: await issueCertificate(await createCertificateAuthority({ commonName: 'other' }), subject),
    nobody: undefined,
  };
  const backend = new FakeBackend();
  const kubelet = await startKubelet({
    nodeName: 'node',
    backendOf: ({ pod }) => (pod === 'web' ? backend : undefined),
    backends: () => [backend],
    pods: () => [{ apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'default', name: 'web', uid: 'u1' } }],
    listen: { host: '127.0.0.1', port: 0 },
    tls: serving,
    clientCa: ca.cert,
    clock: systemClock,
  });
  const sockets: TLSSocket[] = [];
  return {
    backend,
    kubelet,
    connect: async (as = 'apiserver') => {
      const pair = certificates[as];
      const socket = connect({
        host: '127.0.0.1',
        port: kubelet.port,
        ca: ca.cert,
        servername: 'localhost',
        ...(pair === undefined ? {} : { cert: pair.cert, key: pair.key }),
      });
      sockets.push(socket);
      socket.on('error', () => {});
      await once(socket, 'secureConnect');
      return socket;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await kubelet.stop();
    },
  };
}
