import { rename, writeFile } from 'node:fs/promises';
import {
  type Client,
  createClient,
  createTransport,
  keepRenewed,
  SubtreePool,
  systemClock,
  type Validity,
  wallNow,
} from '@asterism/client';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import type { NodeShape } from '@asterism/sim';
import { runWorker } from './run-worker.ts';
import { fileLogger } from '../log/json-logger.ts';

export interface MemberConfig {
  name: string;
  dataDir: string;
  logFile: string;
  nodes: NodeShape[];
  manifests: KubeObject[];
  /** The service account whose token is kept fresh in `tokenFile`, as a kubelet does for a pod that mounts one. */
  agent: { namespace: string; serviceAccount: string; tokenFile: string };
}

export interface MemberReady {
  url: string;
  /** PEM of the authority that signs for its API server. */
  ca: string;
}

const TOKEN_SECONDS = 3600;
/** After a failed renewal. */
const RETRY_MS = 5_000;

// Not a static import: nothing else of `aster` may ever load simulated members.
const { startMember } = await import('@asterism/sim');

const subtrees = new SubtreePool();

runWorker<MemberConfig, MemberReady>(async (config, signal) => {
  const logger = fileLogger(config.logFile);
  const member = await startMember({
    name: config.name,
    dataDir: config.dataDir,
    listen: { host: '127.0.0.1', port: 0 },
    nodes: config.nodes,
    manifests: config.manifests,
    logger,
    subtrees,
  });
  const transport = createTransport(member.admin);
  const client = createClient({ transport, userAgent: 'kubelet' });
  const renew = () => writeToken(client, config.agent);
  const validity = await renew();
  const failed = (error: unknown): number => {
    logger.warn({ err: error, retryInMs: RETRY_MS }, 'token not renewed');
    return RETRY_MS;
  };
  const keepFresh = async (): Promise<void> => {
    await keepRenewed({ clock: systemClock, validity, renew, failed }, signal);
    await transport.close();
    await member.stop();
  };
  return { ready: { url: member.url, ca: member.admin.caData ?? '' }, done: keepFresh() };
});

/** Answers of the `token` subresource are TokenRequests. */
const SERVICE_ACCOUNT_TOKENS: ResourceType = {
  group: '',
  version: 'v1',
  resource: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
};

async function writeToken(
  client: Client,
  { namespace, serviceAccount, tokenFile }: MemberConfig['agent'],
): Promise<Validity> {
  const request: KubeObject = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: TOKEN_SECONDS },
  };
  const answer = await client
    .resource(SERVICE_ACCOUNT_TOKENS)
    .create(request, { namespace, name: serviceAccount, subresource: 'token' });
  const { token } = answer['status'] as { token: string };
  await writeFile(`${tokenFile}.new`, token, { mode: 0o600 });
  await rename(`${tokenFile}.new`, tokenFile);
  const from = wallNow();
  return { from, until: from + TOKEN_SECONDS * 1000 };
}
