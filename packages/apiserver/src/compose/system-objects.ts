import {
  formatApiVersion,
  isAlreadyExists,
  isStatusError,
  type KubeObject,
  NAMESPACES,
  PRIORITY_CLASSES,
  type ResourceType,
} from '@asterism/machinery';
import type { UserInfo } from '../contract/user-info.ts';
import type { Registry } from '../registry/registry.ts';
import { requireResource } from '../registry/require-resource.ts';

interface SystemObjects {
  type: ResourceType;
  objects: readonly (KubeObject & { metadata: { name: string } })[];
}

/** What every cluster has from its beginning. */
const SYSTEM_OBJECTS: readonly SystemObjects[] = [
  {
    type: NAMESPACES,
    objects: ['default', 'kube-node-lease', 'kube-public', 'kube-system'].map((name) => ({ metadata: { name } })),
  },
  {
    type: PRIORITY_CLASSES,
    objects: [
      {
        metadata: { name: 'system-node-critical' },
        value: 2_000_001_000,
        description: 'Used for system critical pods that must not be moved from their current node.',
      },
      {
        metadata: { name: 'system-cluster-critical' },
        value: 2_000_000_000,
        description:
          'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
      },
    ],
  },
];

/** Creates those of them that are missing. */
export async function ensureSystemObjects(registry: Registry, user: UserInfo): Promise<void> {
  for (const { type, objects } of SYSTEM_OBJECTS) {
    const resource = requireResource(registry, type);
    const { items } = await registry.list(resource, { skipDamaged: true });
    const known = new Set(items.map((stored) => stored.parse().metadata?.name));
    const missing = objects.filter(({ metadata }) => !known.has(metadata.name));
    const apiVersion = formatApiVersion(type);
    await Promise.all(
      missing.map(async (object) => {
        try {
          const whole = { apiVersion, kind: type.kind, ...object };
          await registry.create(resource, whole, { user, fieldManager: 'kube-apiserver' });
        } catch (error) {
          // A damaged one exists too.
          if (!isAlreadyExists(error) && !isStatusError(error, 'StorageReadError')) throw error;
        }
      }),
    );
  }
}
