// `main.ts [FOLDER]`: the main cluster is the one it runs in, or else the kubeconfig's; the others are the kubeconfigs in FOLDER.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  connectionFromKubeconfig,
  createClient,
  createTransport,
  inClusterConnection,
  loadKubeconfig,
} from '@asterism/client';
import { CONFIG_MAPS, SECRETS } from '@asterism/machinery';
import {
  createJsonLogger,
  createKubeconfigFileProvider,
  createManager,
  createStatusServer,
  readClusterId,
} from '@asterism/runtime';
import { createMetrics } from '@asterism/runtime/metrics';
import { addMirror } from './mirror.ts';

const { KUBERNETES_SERVICE_HOST, STATUS_PORT = '8080' } = process.env;
const [folder = 'fleet'] = process.argv.slice(2);
const logger = createJsonLogger();
const connection = KUBERNETES_SERVICE_HOST
  ? await inClusterConnection()
  : await connectionFromKubeconfig(await loadKubeconfig());
await using transport = createTransport(connection);
const client = createClient({ transport, userAgent: 'config-sync' });
const metrics = createMetrics();
const manager = createManager({
  client,
  logger,
  metrics,
  providers: [createKubeconfigFileProvider({ paths: [folder], logger, userAgent: 'config-sync' })],
  leaderElection: { namespace: 'default', name: 'config-sync', identity: `${hostname()}_${randomUUID()}` },
  servers: [createStatusServer({ port: Number(STATUS_PORT), metrics })],
});
const domain = `config-sync.${await readClusterId(client)}`;
addMirror(manager, CONFIG_MAPS, { domain });
addMirror(manager, SECRETS, { domain });
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
await manager.start(stop.signal);
