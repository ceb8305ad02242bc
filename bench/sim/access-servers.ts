import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { type ApiServerOptions, createCertificateAuthority, issueCertificate, type Peer } from '@asterism/apiserver';
import { type Client, createClient, createTransport } from '@asterism/client';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  type KubeObject,
  NAMESPACES,
  PODS,
  type ResourceType,
  ROLE_BINDINGS,
  ROLES,
  SERVICE_ACCOUNTS,
} from '@asterism/machinery';
import { benchPod } from '../apiserver/bench-pod.ts';
import { ServedProcess } from '../harness/served-process.ts';

export interface ToAccess {
  start?: {
    authorizations: ('RBAC' | 'AlwaysAllow')[];
    options: Pick<ApiServerOptions, 'tls' | 'clientCa' | 'staticTokens' | 'serviceAccounts'>;
  };
  gets?: Gets;
}

/** What a caller shows; nobody, without either. */
export interface Shown {
  token?: string;
  certificate?: NonNullable<Peer['certificate']>;
}

/** So many GETs, within the process. */
export interface Gets {
  /** Its place among those that were started. */
  server: number;
  caller: Shown;
  count: number;
  paths: string[];
}

export interface FromAccess {
  /** Of those that were started. */
  urls: string[];
  /** Of the process, for all of the GETs. */
  cpuMs?: number;
}

const PODS_READ = 200;
/** So many roles, each with a binding. */
export const MANY_ROLES = 10_000;
const NAMESPACE = 'read';
const PATHS = Array.from({ length: PODS_READ }, (_, index) => `/api/v1/namespaces/${NAMESPACE}/pods/pod-${index}`);
const NAMESPACES_OF_ROLES = 100;
const AT_ONCE = 32;
const USER = { username: 'bench-user', groups: ['bench'] };
const ADMIN = { username: 'bench-admin', groups: ['system:masters'] };
const SERVICE_ACCOUNT = 'bench';
const ISSUER = 'https://kubernetes.default.svc';

/** Who asks, and whether much else is bound. */
export const CALLERS = ['open', 'token', 'certificate', 'serviceAccount', 'tokenMany', 'serviceAccountMany'] as const;
export type Caller = (typeof CALLERS)[number];
type Callers = Readonly<Record<Caller, Pick<Gets, 'server' | 'caller'>>>;

/**
 * Three servers with the same pods in one process: one that lets everybody in (`AlwaysAllow`), one with RBAC, and one with RBAC and
 * many roles and bindings besides.
 */
export class AccessServers implements AsyncDisposable {
  readonly #process: ServedProcess<ToAccess, FromAccess>;
  readonly #callers: Callers;

  private constructor(process: ServedProcess<ToAccess, FromAccess>, callers: Callers) {
    this.#process = process;
    this.#callers = callers;
  }

  static async start(signal: AbortSignal): Promise<AccessServers> {
    const entry = new URL('./access-process.js', import.meta.url);
    const process = await ServedProcess.start<ToAccess, FromAccess>(entry, signal);
    try {
      return new AccessServers(process, await prepare(process));
    } catch (error) {
      await process[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** µs of CPU for each of so many GETs of one pod. */
  async get(caller: Caller, count: number): Promise<number> {
    const { cpuMs = Number.NaN } = await this.#process.ask({ gets: { ...this.#callers[caller], count, paths: PATHS } });
    return (cpuMs / count) * 1000;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
  }
}

async function prepare(process: ServedProcess<ToAccess, FromAccess>): Promise<Callers> {
  const authority = await createCertificateAuthority({ commonName: 'bench-ca' });
  const tls = await issueCertificate(authority, {
    commonName: 'kube-apiserver',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
    days: 1,
  });
  const [token, adminToken] = [randomUUID(), randomUUID()];
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const staticTokens = [
    { token, ...USER },
    { token: adminToken, ...ADMIN },
  ];
  const options = { tls, clientCa: authority.cert, staticTokens, serviceAccounts: { issuer: ISSUER, key: privateKey } };
  const { urls } = await process.ask({ start: { authorizations: ['AlwaysAllow', 'RBAC', 'RBAC'], options } });
  const ca = authority.cert;
  const [open = '', rbac = '', many = ''] = urls;
  const accounts: string[] = [];
  for (const [url, roles] of [
    [open, 0],
    [rbac, 0],
    [many, MANY_ROLES],
  ] as const) {
    await using transport = createTransport({
      server: url,
      caData: ca,
      credential: { kind: 'token', token: adminToken },
    });
    accounts.push(await fill(createClient({ transport, userAgent: 'bench' }), roles));
  }
  const certificate = { commonName: USER.username, organizations: USER.groups, fingerprint: 'f'.repeat(64) };
  return {
    open: { server: 0, caller: {} },
    token: { server: 1, caller: { token } },
    certificate: { server: 1, caller: { certificate } },
    serviceAccount: { server: 1, caller: { token: accounts[1]! } },
    tokenMany: { server: 2, caller: { token } },
    serviceAccountMany: { server: 2, caller: { token: accounts[2]! } },
  };
}

/** Resolves with a token of the service account that may read the pods, as {@link USER} may. */
async function fill(client: Client, roles: number): Promise<string> {
  const make = (type: ResourceType, name: string, rest: object, namespace?: string): Promise<KubeObject> =>
    client.resource(type).create({
      apiVersion: type.group ? `${type.group}/${type.version}` : type.version,
      kind: type.kind,
      metadata: namespace === undefined ? { name } : { name, namespace },
      ...rest,
    });
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
  const others = Array.from({ length: NAMESPACES_OF_ROLES }, (_, index) => `other-${index}`);
  for (const name of roles > 0 ? [NAMESPACE, ...others] : [NAMESPACE]) await make(NAMESPACES, name, {});
  await make(SERVICE_ACCOUNTS, SERVICE_ACCOUNT, {}, NAMESPACE);
  const account = { kind: 'ServiceAccount', name: SERVICE_ACCOUNT, namespace: NAMESPACE };
  const subjects = [{ kind: 'Group', name: 'bench' }, account];
  await make(ROLES, 'bench', { rules }, NAMESPACE);
  await make(ROLE_BINDINGS, 'bench', { subjects, roleRef: roleRef('Role', 'bench') }, NAMESPACE);
  await inTurns(PODS_READ, (index) => client.resource(PODS).create(benchPod(NAMESPACE, `pod-${index}`)));
  // A tenth holds in the whole cluster and is bound to others; the rest are of the same caller, in other namespaces and in this one.
  await inTurns(roles, async (index) => {
    const name = `role-${index}`;
    if (index % 10 === 0) {
      const bound = { subjects: [{ kind: 'Group', name: `group-${index}` }], roleRef: roleRef('ClusterRole', name) };
      await make(CLUSTER_ROLES, name, { rules });
      await make(CLUSTER_ROLE_BINDINGS, name, bound);
      return;
    }
    const here = index % 10 === 1;
    const namespace = here ? NAMESPACE : others[index % NAMESPACES_OF_ROLES]!;
    const whom = here ? [{ kind: 'User', name: `user-${index}` }] : subjects;
    await make(ROLES, name, { rules }, namespace);
    await make(ROLE_BINDINGS, name, { subjects: whom, roleRef: roleRef('Role', name) }, namespace);
  });
  const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 86_400 } };
  const issued = await client
    .resource(SERVICE_ACCOUNTS)
    .create(asked, { name: SERVICE_ACCOUNT, namespace: NAMESPACE, subresource: 'token' });
  return (issued as { status?: { token?: string } }).status?.token ?? '';
}

const roleRef = (kind: 'Role' | 'ClusterRole', name: string): object => ({
  apiGroup: 'rbac.authorization.k8s.io',
  kind,
  name,
});

/** Some at once, so that it takes seconds. */
async function inTurns(count: number, act: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
