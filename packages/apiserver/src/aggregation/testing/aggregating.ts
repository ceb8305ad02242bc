import { API_SERVICES, type APIService } from '@asterism/machinery';
import { createCertificateAuthority } from '../../pki/certificate-authority.ts';
import { issueCertificate } from '../../pki/issue-certificate.ts';
import { startTestServer, type TestServer } from '../../testing/index.ts';
import type { ApiServerOptions } from '../../compose/api-server-options.ts';
import { type Backend, GROUP } from './backend.ts';

/** A server whose services are wherever `backends` says. */
export interface Aggregating extends AsyncDisposable {
  server: TestServer;
  backends: Map<string, Pick<Backend, 'port'>>;
  /** Registers `GROUP/v1` at a backend. */
  register(name: string, backend: Backend, spec?: object): Promise<void>;
  /** Resolves when the condition `Available` of `GROUP/v1` has the reason. */
  until(reason: string): Promise<APIService>;
}

export const NAME = `v1.${GROUP}`;

export async function startAggregating(options: Partial<ApiServerOptions> = {}): Promise<Aggregating> {
  const backends = new Map<string, Pick<Backend, 'port'>>();
  const ca = await createCertificateAuthority({ commonName: 'front-proxy' });
  const pair = await issueCertificate(ca, { commonName: 'front-proxy-client', usages: ['client'], days: 1 });
  const server = await startTestServer({
    aggregation: {
      proxyClient: { ...pair, ca: ca.cert },
      resolve: ({ name }) => {
        const port = backends.get(name)?.port;
        return port === undefined ? undefined : { host: '127.0.0.1', port };
      },
    },
    ...options,
  });
  const services = server.client.resource(API_SERVICES);
  return {
    server,
    backends,
    register: async (name, backend, spec = {}) => {
      backends.set(name, backend);
      await services.create({
        metadata: { name: NAME },
        spec: {
          group: GROUP,
          version: 'v1',
          groupPriorityMinimum: 2000,
          versionPriority: 15,
          service: { namespace: 'default', name },
          caBundle: Buffer.from(backend.ca.cert).toString('base64'),
          ...spec,
        },
      });
    },
    until: async (reason) => {
      for await (const { object } of services.watch({ signal: AbortSignal.timeout(30_000) })) {
        const { status, metadata } = object as APIService;
        if (metadata?.name !== NAME) continue;
        if (status?.conditions?.some((each) => each.reason === reason)) return object as APIService;
      }
      throw new Error(`${NAME} is not ${reason}`);
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}
