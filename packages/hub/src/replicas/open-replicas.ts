import type { Client } from '@asterism/client';
import type { Cache, Logger, Runnable } from '@asterism/runtime';
import type { TunnelHub } from '@asterism/tunnel';
import type { AggregationTarget } from '../aggregated-objects.ts';
import { HeldTunnels } from './held-tunnels.ts';
import { createReplica, type Replica } from './replica.ts';
import { ReplicaLinks } from './replica-links.ts';
import { ReplicaRegister } from './replica-register.ts';
import { SharedTunnels } from './shared-tunnels.ts';

export interface ReplicasOptions {
  /** The tunnels that this process holds. */
  local: TunnelHub;
  /** Where it takes the links of the other replicas; port 0 takes a free one. */
  listen: { host: string; port: number };
  /** How they reach it; without a port, at the one where it listens. */
  advertise: { host: string; port?: number | undefined };
  /** Of the API server that they share. */
  client: Client;
  logger: Logger;
}

export interface Replicas {
  /** Those of all replicas. */
  tunnels: TunnelHub;
  /** Where all of them take calls, this one among them; at first and after each change. @returns what ends that. */
  onServing(listener: (serving: readonly AggregationTarget[]) => void): () => void;
  /** Says that this process is a replica and takes calls there, and finds the others, for as long as it runs. */
  register(cache: Cache, serving: AggregationTarget): Runnable;
  /** Where others take calls, says that this one takes no more, to them and to its own listeners. Resolves with whether they do. */
  retire(): Promise<boolean>;
  /** Says that it is gone. */
  leave(): Promise<void>;
}

/** Makes this process one of the hub's replicas; what it opens is closed with `parts`. */
export async function openReplicas(options: ReplicasOptions, parts: AsyncDisposableStack): Promise<Replicas> {
  const { local, listen, advertise, client, logger } = options;
  const links = parts.use(new ReplicaLinks({ held: new HeldTunnels(local), logger }));
  const port = await links.listen(listen);
  const self = await createReplica({ host: advertise.host, port: advertise.port ?? port });
  const listeners = new Set<(serving: readonly AggregationTarget[]) => void>();
  let others: readonly Replica[] = [];
  let own: AggregationTarget | undefined;
  let register: ReplicaRegister | undefined;
  // A Lease may be left behind, and is believed for a while; who is linked is there, and knows what the others hold.
  const serving = (): AggregationTarget[] => [
    ...(own ? [own] : []),
    ...others.flatMap((other) => (other.serving && links.linked(other.id) ? [other.serving] : [])),
  ];
  const tell = (): void => {
    for (const listener of listeners) listener(serving());
  };
  links.onChange(tell);
  return {
    tunnels: new SharedTunnels({ id: self.id, local, links: links.hub, logger }),
    onServing(listener) {
      listeners.add(listener);
      listener(serving());
      return () => listeners.delete(listener);
    },
    register(cache, here) {
      own = here;
      const onChange = (found: readonly Replica[]): void => {
        logger.info({ replica: self.id, others: found.map(({ id }) => id) }, 'the replicas of this hub');
        others = found;
        links.update(self, others);
        tell();
      };
      register = new ReplicaRegister({ self: { ...self, serving: here }, client, cache, logger, onChange });
      return register;
    },
    async retire() {
      await register?.retire();
      const others = serving().some((each) => each !== own);
      if (others) own = undefined;
      tell();
      return others;
    },
    async leave() {
      await register?.leave();
    },
  };
}
