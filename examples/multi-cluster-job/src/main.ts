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
import {
  createJsonLogger,
  createKubeconfigFileProvider,
  createManager,
  createStatusServer,
  readClusterId,
} from '@asterism/runtime';
import { addMultiClusterJob } from './multi-cluster-job.ts';

const { KUBERNETES_SERVICE_HOST, STATUS_PORT = '8080' } = process.env;
const [folder = 'fleet'] = process.argv.slice(2);
const logger = createJsonLogger();
const connection = KUBERNETES_SERVICE_HOST
  ? await inClusterConnection()
  : await connectionFromKubeconfig(await loadKubeconfig());
await using transport = createTransport(connection);
const client = createClient({ transport, userAgent: 'multi-cluster-job' });
const manager = createManager({
  client,
  logger,
  providers: [createKubeconfigFileProvider({ paths: [folder], logger, userAgent: 'multi-cluster-job' })],
  leaderElection: { namespace: 'default', name: 'multi-cluster-job', identity: `${hostname()}_${randomUUID()}` },
  servers: [createStatusServer({ port: Number(STATUS_PORT) })],
});
addMultiClusterJob(manager, `multi-cluster-job.${await readClusterId(client)}`);
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
await manager.start(stop.signal);
