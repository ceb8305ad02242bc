import { wallNow } from '@asterism/client';
import { type Controller, createController } from '@asterism/runtime';
import { CLUSTERS } from '../../api/index.ts';
import { cutStatus } from './status-size.ts';

/** Cuts the status of a Cluster that is larger than the hub keeps, and says so in a condition. */
export function createStatusSizeController({ now = wallNow }: { now?: () => number } = {}): Controller {
  return createController({
    name: 'cluster-status-size',
    async reconcile({ name }, { cluster: { client, cache }, signal, logger }) {
      const cluster = cache.get(CLUSTERS, { name });
      const status = cluster && cutStatus(cluster, now());
      if (!status) return;
      await client.resource(CLUSTERS).update({ ...cluster, status }, { subresource: 'status', signal });
      logger.warn({ member: name }, 'the agent reported a status that is too large: it was cut');
    },
  }).for(CLUSTERS);
}
