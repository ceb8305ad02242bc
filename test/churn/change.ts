import type { Client } from '@asterism/client';

/** What changes are made to. */
export interface ChurnedCluster {
  client: Client;
  /** As if the machine lost its power. */
  stopNode(name: string): Promise<void>;
  startNode(name: string): void;
}

/** One change, made when those before it were. */
export interface Change {
  what: string;
  make(cluster: ChurnedCluster): Promise<void>;
}
