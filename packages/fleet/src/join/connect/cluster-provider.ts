import { createClient, type Transport } from '@asterism/client';
import type { ClusterProvider, Engagement } from '@asterism/runtime';
import type { ClusterConnections } from '../../reach/cluster-connections.ts';

/** Who the hub is, in the members' logs and as the manager of what it writes there. */
const USER_AGENT = 'asterism-hub';

/**
 * Gives every capability the members: each is engaged once the hub can reach it, through its tunnel or directly, and leaves
 * with its Cluster. A member that is away stays engaged, and what it holds is kept; when its tunnel is back its watches go on
 * at once. No member waits for another.
 */
export function createClusterProvider(connections: ClusterConnections): ClusterProvider {
  return {
    name: 'fleet',
    run(engage, signal) {
      const wanted = new Map<string, Transport>();
      const engaged = new Map<string, Engagement>();
      const leaving = new Set<string>();
      const enter = (name: string): void => {
        const transport = wanted.get(name);
        if (!transport || leaving.has(name)) return;
        const client = createClient({ transport, userAgent: USER_AGENT });
        const present = engaged.get(name);
        if (present) present.replaceClient(client);
        else engaged.set(name, engage(name, client));
      };
      const leave = async (name: string, engagement: Engagement): Promise<void> => {
        engaged.delete(name);
        leaving.add(name);
        await engagement.disengage();
        leaving.delete(name);
        enter(name); // It may have joined again meanwhile.
      };
      const unsubscribe = connections.onChange(({ name, transport }) => {
        const present = engaged.get(name);
        if (transport) {
          wanted.set(name, transport);
          enter(name);
        } else {
          wanted.delete(name);
          if (present) void leave(name, present);
        }
      });
      const { promise, resolve } = Promise.withResolvers<void>();
      signal.addEventListener('abort', () => {
        unsubscribe();
        resolve();
      });
      return promise;
    },
  };
}
