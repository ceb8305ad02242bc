import { writeFile } from 'node:fs/promises';
import type { Client, Connection } from '@asterism/client';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  isAlreadyExists,
  NAMESPACES,
  type PolicyRule,
  ROLE_BINDINGS,
  ROLES,
} from '@asterism/machinery';
import type { UserInfo } from '../contract/user-info.ts';

/**
 * Who somebody is, and what he may do.
 *
 * @example {@link startTestServer}
 */
export interface TestUserOptions extends Partial<Omit<UserInfo, 'username'>> {
  /** What he may do, by a role of his own. */
  rules?: PolicyRule[];
  /** A ClusterRole that there is: `view`, `edit`, `cluster-admin` … */
  clusterRole?: string;
  /** Both of these count in this namespace alone, which is made where there is none. Default: in the whole cluster. */
  namespace?: string;
}

/**
 * A user of a test server, who may do what was granted and no more.
 *
 * @example {@link startTestServer}
 */
export interface TestUser {
  readonly username: string;
  /** Closed with the server. */
  readonly client: Client;
  readonly connection: Connection;
  /** Writes a kubeconfig for him, mode 0600. Returns its path. */
  kubeconfig(path: string): Promise<string>;
}

/** Gives a user the rights that `options` say, as an administrator. They count when it resolves. */
export async function grantRights(admin: Client, username: string, options: TestUserOptions): Promise<void> {
  const { rules, clusterRole, namespace } = options;
  if (namespace !== undefined) await ensureNamespace(admin, namespace);
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: username }];
  const bind = async (kind: 'ClusterRole' | 'Role', name: string): Promise<void> => {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind, name };
    const binding = { metadata: { name: `test:${username}:${name}`, namespace }, roleRef, subjects };
    await (namespace === undefined
      ? admin.resource(CLUSTER_ROLE_BINDINGS).create(binding)
      : admin.resource(ROLE_BINDINGS).create(binding));
  };
  if (rules !== undefined) {
    const role = { metadata: { name: `test:${username}`, namespace }, rules };
    await (namespace === undefined ? admin.resource(CLUSTER_ROLES).create(role) : admin.resource(ROLES).create(role));
    await bind(namespace === undefined ? 'ClusterRole' : 'Role', role.metadata.name);
  }
  if (clusterRole !== undefined) await bind('ClusterRole', clusterRole);
}

async function ensureNamespace(admin: Client, name: string): Promise<void> {
  try {
    await admin.resource(NAMESPACES).create({ metadata: { name } });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** Writes a kubeconfig with one context, `test`. Returns its path. */
export async function writeKubeconfig(path: string, username: string, connection: Connection): Promise<string> {
  const { server, caData = '', credential } = connection;
  const authority = Buffer.from(caData).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name: username, user: credential.kind === 'token' ? { token: credential.token } : {} }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: username } }],
    'current-context': 'test',
  };
  await writeFile(path, JSON.stringify(config, null, 2), { mode: 0o600 });
  return path;
}
