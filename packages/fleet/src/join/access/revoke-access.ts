import {
  CLUSTER_ROLE_BINDINGS,
  type ClusterRoleBinding,
  isNotFound,
  type ResourceType,
  ROLE_BINDINGS,
  type RoleBinding,
} from '@asterism/machinery';
import type { Cluster as ApiServer } from '@asterism/runtime';
import { CLUSTER_LABEL } from '../../api/index.ts';

/**
 * Empties the bindings of a Cluster that is no more. They go with it anyway, as everything that it owns, but when they go is the
 * garbage collector's to say: an agent that was put out is out at once.
 */
export async function revokeAccess(
  { client, cache }: Pick<ApiServer, 'client' | 'cache'>,
  clusterName: string,
  signal: AbortSignal,
): Promise<void> {
  const empty = async <B extends RoleBinding | ClusterRoleBinding>(type: ResourceType<B>): Promise<void> => {
    for (const binding of cache.list(type)) {
      const { labels, name = '', namespace } = binding.metadata ?? {};
      if (labels?.[CLUSTER_LABEL] !== clusterName || !binding.subjects?.length) continue;
      try {
        const live = await client.resource(type).get({ name, namespace }, { signal });
        // One that was made for a cluster of the same name meanwhile is not this one's.
        if (live.metadata?.uid !== binding.metadata?.uid) continue;
        await client.resource(type).update({ ...live, subjects: [] }, { signal });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
  };
  await empty(CLUSTER_ROLE_BINDINGS);
  await empty(ROLE_BINDINGS);
}
