// `main.ts [FOLDER]`: the main cluster is that of `$KUBECONFIG`, or else the one it runs in; the others are the kubeconfigs in FOLDER.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  connectToCluster,
  createJsonLogger,
  createKubeconfigFileProvider,
  createManager,
  createStatusServer,
  readClusterId,
} from '@asterism/runtime';
import { addMultiClusterJob } from './multi-cluster-job.ts';

const { STATUS_PORT = '8080' } = process.env;
const [folder = 'fleet'] = process.argv.slice(2);
const logger = createJsonLogger();
await using main = await connectToCluster({ logger, userAgent: 'multi-cluster-job' });
const manager = createManager({
  client: main.client,
  logger,
  providers: [createKubeconfigFileProvider({ paths: [folder], logger, userAgent: 'multi-cluster-job' })],
  leaderElection: { namespace: 'default', name: 'multi-cluster-job', identity: `${hostname()}_${randomUUID()}` },
  servers: [createStatusServer({ port: Number(STATUS_PORT) })],
});
addMultiClusterJob(manager, `multi-cluster-job.${await readClusterId(main.client)}`);
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
await manager.start(stop.signal);
