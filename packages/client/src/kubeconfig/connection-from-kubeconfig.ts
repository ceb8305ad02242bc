import { readFile } from 'node:fs/promises';
import { ClientError } from '../client-error.ts';
import type { Connection, Credential, Impersonation } from '../connection.ts';
import { parseServer } from '../http/endpoint.ts';
import { parseProxyUrl } from '../proxy/parse-proxy-url.ts';
import type { Kubeconfig, KubeconfigUser } from './kubeconfig.ts';

/**
 * The connection of a context, the current one by default. Reads the certificate files that it names; a token file stays a
 * file, since it changes. Rejects with `ERR_KUBECONFIG` for what is missing, contradictory or not supported, `ERR_SERVER_URL` for
 * an address that is none or holds a password, `ERR_PROXY_URL` for a `proxy-url` that is none. A cluster without `proxy-url` is reached
 * directly: `withEnvironmentProxy` adds what `HTTPS_PROXY` says.
 */
export async function connectionFromKubeconfig(kubeconfig: Kubeconfig, context?: string): Promise<Connection> {
  const name = context ?? kubeconfig['current-context'];
  if (!name)
    throw refused(`no context is given and the kubeconfig has no current-context${offer(kubeconfig.contexts)}`);
  const chosen = pick(kubeconfig.contexts, name, 'context').context;
  const { cluster } = pick(kubeconfig.clusters, chosen.cluster, `context "${name}": cluster`);
  if (typeof cluster.server !== 'string' || cluster.server === '') {
    throw refused(`cluster "${chosen.cluster}" has no server`);
  }
  parseServer(cluster.server);
  if (cluster['proxy-url']) parseProxyUrl(cluster['proxy-url'], `cluster "${chosen.cluster}": proxy-url`);
  const ca = await pem(cluster, 'certificate-authority', `cluster "${chosen.cluster}"`);
  const insecure = cluster['insecure-skip-tls-verify'] === true;
  if (insecure && ca) {
    throw refused(
      `cluster "${chosen.cluster}" has both a certificate authority and insecure-skip-tls-verify: choose one`,
    );
  }
  const user = chosen.user ? pick(kubeconfig.users, chosen.user, `context "${name}": user`).user : {};
  return {
    server: cluster.server,
    ...(ca ? { caData: ca } : {}),
    ...(cluster['tls-server-name'] ? { tlsServerName: cluster['tls-server-name'] } : {}),
    ...(insecure ? { insecureSkipTlsVerify: true } : {}),
    ...(cluster['proxy-url'] ? { proxyUrl: cluster['proxy-url'] } : {}),
    credential: await credentialOf(user, chosen.user),
    ...impersonationOf(user),
  };
}

/**
 * In client-go's order (`clientcmd/client_config.go`, `transport/round_trippers.go`, `plugin/pkg/client/auth/exec`):
 *
 * 1. A certificate always goes along, with whatever else there is.
 * 2. If there are both `token` and `tokenFile`, the file is used, and the token while the file cannot be read.
 * 3. `exec` runs only if there is neither a token nor a certificate.
 */
async function credentialOf(user: KubeconfigUser, name: string): Promise<Credential> {
  const where = `user "${name}"`;
  if (user.username || user.password) {
    throw refused(`${where}: basic authentication is gone since Kubernetes 1.19; use a token, a certificate or exec`);
  }
  if (user['auth-provider']) {
    throw refused(`${where}: auth-provider "${user['auth-provider'].name}" is gone since Kubernetes 1.26; use exec`);
  }
  const cert = await pem(user, 'client-certificate', where);
  const key = await pem(user, 'client-key', where);
  if ((cert === undefined) !== (key === undefined)) {
    throw refused(`${where} has a client ${cert ? 'certificate but no key' : 'key but no certificate'}`);
  }
  const certificate = cert !== undefined && key !== undefined ? { cert, key } : undefined;
  const along = certificate ? { certificate } : {};
  if (user.tokenFile) {
    return { kind: 'tokenFile', path: user.tokenFile, ...(user.token ? { token: user.token } : {}), ...along };
  }
  if (user.token) return { kind: 'token', token: user.token, ...along };
  if (certificate) return { kind: 'certificate', ...certificate };
  return user.exec ? { kind: 'exec', exec: user.exec } : { kind: 'none' };
}

/** Throws where the kubeconfig names groups, a uid or extras without a user: to ignore them would be to act as the credential. */
function impersonationOf(user: KubeconfigUser): { impersonate?: Impersonation } {
  if (!user.as) {
    if (!user['as-uid'] && !user['as-groups']?.length && !user['as-user-extra']) return {};
    throw refused('the kubeconfig impersonates a uid, groups or extras, but no user: add "as", or remove them');
  }
  return {
    impersonate: { user: user.as, uid: user['as-uid'], groups: user['as-groups'], extra: user['as-user-extra'] },
  };
}

type PemKey = 'certificate-authority' | 'client-certificate' | 'client-key';

/** `KEY-data` (base64) wins over the file `KEY`, as in client-go. */
async function pem<K extends PemKey>(
  holder: { [key in K | `${K}-data`]?: string },
  key: K,
  where: string,
): Promise<string | undefined> {
  const data = holder[`${key}-data`];
  if (data) return Buffer.from(data, 'base64').toString('utf8');
  const path = holder[key];
  if (!path) return undefined;
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new ClientError(`${where}: cannot read ${key}: ${(cause as Error).message}`, {
      code: 'ERR_KUBECONFIG',
      cause,
    });
  }
}

function pick<T extends { name: string }>(list: readonly T[], name: string, what: string): T {
  const found = list.find((entry) => entry.name === name);
  if (!found) throw refused(`${what} "${name}" is not in the kubeconfig${offer(list)}`);
  return found;
}

function offer(list: readonly { name: string }[]): string {
  return list.length === 0 ? '' : ` (it has ${list.map(({ name }) => `"${name}"`).join(', ')})`;
}

function refused(message: string): ClientError {
  return new ClientError(message, { code: 'ERR_KUBECONFIG' });
}
