import { request as httpsRequest } from 'node:https';
import type { Clock } from '@asterism/client';
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, CONFIG_MAPS, type ConfigMap } from '@asterism/machinery';
import { type ApiServer, createApiServer } from '../../api-server.ts';
import type { ApiServerOptions } from '../../compose/api-server-options.ts';
import { answerJson } from '../../http/answer/answer.ts';
import type { ApiExtension } from '../../http/extension/api-extension.ts';
import { createCertificateAuthority, type KeyPair } from '../../pki/certificate-authority.ts';
import { issueCertificate } from '../../pki/issue-certificate.ts';
import { startTestServer, type TestServer } from '../../testing/index.ts';
import { createDelegation } from '../create-delegation.ts';
import type { Delegation } from '../../contract/delegation.ts';

const REF = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };

/** The name that a front proxy's certificate must bear. */
export const PROXY_NAME = 'front-proxy-client';

/** Answers whom the host lets `get` it with who he is, the headers that a handler sees, and the name that TLS accepted. */
export const WHOAMI: ApiExtension = {
  group: 'test.example.com',
  version: 'v1',
  resources: [
    {
      resource: 'whoamis',
      singular: 'whoami',
      kind: 'Whoami',
      namespaced: false,
      verbs: ['get'],
      authorization: 'rbac',
      handle: ({ request: { headers, peer }, user }) =>
        Promise.resolve(answerJson(200, { user, headers, accepted: peer?.certificate?.commonName })),
    },
  ],
};

export const WHOAMI_PATH = '/apis/test.example.com/v1/whoamis/me';

export interface DelegatedServer extends AsyncDisposable {
  /** A whole API server of ours, which plays the kube-apiserver. */
  host: TestServer;
  delegation: Delegation;
  server: ApiServer;
  url: string;
  /** PEM of what signed the server's certificate. */
  ca: string;
  /** The front proxy's authority. */
  proxyCa: KeyPair;
}

/** A host, and a server that delegates to it. The group `readers` of the host may see {@link WHOAMI}. */
export async function startDelegatedServer(
  options: {
    server?: Partial<ApiServerOptions> | ((host: TestServer) => Partial<ApiServerOptions>);
    host?: Partial<ApiServerOptions>;
    clock?: Clock;
  } = {},
): Promise<DelegatedServer> {
  const host = await startTestServer({ controllers: false, ...options.host });
  const proxyCa = await createCertificateAuthority({ commonName: 'front-proxy-ca' });
  await host.client.resource(CONFIG_MAPS).update(authenticationConfig(host.ca.cert, proxyCa.cert));
  await grant(host, 'readers', { apiGroups: ['test.example.com'], resources: ['whoamis'], verbs: ['get'] });
  const { clock } = options;
  const delegation = await createDelegation({ client: host.client, ...(clock === undefined ? {} : { clock }) });
  const ca = await createCertificateAuthority({ commonName: 'serving-ca' });
  const tls = await issueCertificate(ca, { commonName: 's', ipAddresses: ['127.0.0.1'], usages: ['server'], days: 1 });
  const server = createApiServer({
    kinds: 'none',
    delegation,
    listen: { host: '127.0.0.1', port: 0 },
    tls,
    extensions: [WHOAMI],
    ...(typeof options.server === 'function' ? options.server(host) : options.server),
  });
  const { url } = await server.start();
  const stop = async (): Promise<void> => {
    await server.stop();
    await delegation[Symbol.asyncDispose]();
    await host.stop();
  };
  return { host, delegation, server, url, ca: ca.cert, proxyCa, [Symbol.asyncDispose]: stop };
}

/** What a kube-apiserver publishes about itself. */
export function authenticationConfig(clientCa: string, proxyCa: string, rest: Record<string, string> = {}): ConfigMap {
  return {
    metadata: REF,
    data: {
      'client-ca-file': clientCa,
      'requestheader-client-ca-file': proxyCa,
      'requestheader-allowed-names': JSON.stringify([PROXY_NAME]),
      'requestheader-username-headers': '["X-Remote-User"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      ...rest,
    },
  };
}

/** Replaces what the host publishes, and waits until the delegation has it. */
export async function publish({ host, delegation }: DelegatedServer, configMap: ConfigMap): Promise<void> {
  const changed = Promise.withResolvers<void>();
  const unfollow = delegation.onChange(() => changed.resolve());
  await host.client.resource(CONFIG_MAPS).update(configMap);
  await changed.promise;
  unfollow();
}

/** Gives a group of the host a right there. */
export async function grant(host: TestServer, group: string, rule: Record<string, string[]>): Promise<void> {
  const metadata = {
    name: `${group}-${Object.values(rule)
      .flat()
      .join('-')
      .toLowerCase()
      .replaceAll(/[^a-z-]/g, '')}`,
  };
  await host.client.resource(CLUSTER_ROLES).create({ metadata, rules: [rule as { verbs: string[] }] });
  await host.client.resource(CLUSTER_ROLE_BINDINGS).create({
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
  });
}

export interface Answer {
  status: number;
  body: string;
  headers: Record<string, string | string[] | undefined>;
}

/** One HTTP/1.1 request on a connection of its own. */
export async function call(
  { url, ca }: Pick<DelegatedServer, 'url' | 'ca'>,
  options: { path?: string; headers?: Record<string, string | string[]>; identity?: KeyPair } = {},
): Promise<Answer> {
  const { path = WHOAMI_PATH, headers = {}, identity } = options;
  return await new Promise((resolve, reject) => {
    const sent = httpsRequest(new URL(path, url), { ca, headers, agent: false, ...identity }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body, headers: response.headers }));
      response.on('error', reject);
    });
    sent.on('error', reject).end();
  });
}
