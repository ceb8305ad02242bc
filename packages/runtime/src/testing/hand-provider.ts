import type { Client } from '@asterism/client';
import type { ClusterProvider, Engagement } from '../cluster/cluster.ts';

/** Engages when a test says so. */
export class HandProvider implements ClusterProvider {
  engage!: (name: string, client: Client) => Engagement;

  run(engage: HandProvider['engage'], signal: AbortSignal): Promise<void> {
    this.engage = engage;
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
  }
}
