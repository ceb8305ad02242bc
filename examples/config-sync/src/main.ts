// `main.ts [FOLDER]`: the main cluster is that of `$KUBECONFIG`, or else the one it runs in; the others are the kubeconfigs in FOLDER.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { CONFIG_MAPS, SECRETS } from '@asterism/machinery';
import {
  connectToCluster,
  createJsonLogger,
  createKubeconfigFileProvider,
  createManager,
  createStatusServer,
  readClusterId,
} from '@asterism/runtime';
import { createMetrics } from '@asterism/runtime/metrics';
import { addMirror } from './mirror.ts';

const { STATUS_PORT = '8080' } = process.env;
const [folder = 'fleet'] = process.argv.slice(2);
const logger = createJsonLogger();
await using main = await connectToCluster({ logger, userAgent: 'config-sync' });
const metrics = createMetrics();
const manager = createManager({
  client: main.client,
  logger,
  metrics,
  providers: [createKubeconfigFileProvider({ paths: [folder], logger, userAgent: 'config-sync' })],
  leaderElection: { namespace: 'default', name: 'config-sync', identity: `${hostname()}_${randomUUID()}` },
  servers: [createStatusServer({ port: Number(STATUS_PORT), metrics })],
});
const domain = `config-sync.${await readClusterId(main.client)}`;
addMirror(manager, CONFIG_MAPS, { domain });
addMirror(manager, SECRETS, { domain });
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
await manager.start(stop.signal);
