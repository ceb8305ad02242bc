import { connectionFromKubeconfig, createClient, createTransport, loadKubeconfig } from '@asterism/client';
import { CONFIG_MAPS } from '@asterism/machinery';
import { LeadershipLostError } from '../leader/leader-election.ts';
import { silentLogger } from '../log/logger.ts';
import { createManager } from '../lifecycle/manager.ts';

/**
 * A process that, while it leads, writes as fast as it can: `node leader-process.ts KUBECONFIG`. Prints `leading` when it does,
 * and at its end why it ended.
 */
const [kubeconfig = ''] = process.argv.slice(2);
const connection = await connectionFromKubeconfig(await loadKubeconfig(kubeconfig));
await using transport = createTransport(connection);
const times = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 100 };
const manager = createManager({
  client: createClient({ transport }),
  logger: silentLogger,
  leaderElection: { namespace: 'default', name: 'leader', identity: 'the process', ...times },
});
manager.add({
  name: 'writer',
  async run(signal) {
    process.stdout.write('leading\n');
    const maps = manager.local.client.resource(CONFIG_MAPS);
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'written' } };
    for (let count = 0; !signal.aborted; count += 1) {
      await maps.apply({ ...object, data: { by: `the process ${count}` } }, { fieldManager: 'test', force: true });
    }
  },
});
await manager.start(new AbortController().signal).catch((error) => {
  process.stdout.write(error instanceof LeadershipLostError ? 'lost\n' : `failed: ${String(error)}\n`);
});
