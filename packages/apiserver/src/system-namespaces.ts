import { isAlreadyExists, NAMESPACES } from '@asterism/machinery';
import type { UserInfo } from './authentication/user-info.ts';
import type { Registry } from './registry/registry.ts';

/** What every cluster has from its beginning. */
const SYSTEM_NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

/** Creates the namespaces that are missing. */
export async function ensureSystemNamespaces(registry: Registry, user: UserInfo): Promise<void> {
  const resource = registry.find(NAMESPACES.group, NAMESPACES.version, NAMESPACES.resource);
  if (resource === undefined) throw new Error('namespaces are not served');
  const { items } = await registry.list(resource);
  const known = new Set(items.map((stored) => stored.parse().metadata?.name));
  const missing = SYSTEM_NAMESPACES.filter((name) => !known.has(name));
  await Promise.all(
    missing.map(async (name) => {
      const namespace = { kind: 'Namespace', apiVersion: 'v1', metadata: { name } };
      try {
        await registry.create(resource, namespace, { user, fieldManager: 'kube-apiserver' });
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
      }
    }),
  );
}
