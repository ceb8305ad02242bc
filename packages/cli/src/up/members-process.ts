import { rename, writeFile } from 'node:fs/promises';
import { type Client, createClient, createTransport, sleep, SubtreePool, systemClock } from '@asterism/client';
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
/** A kubelet renews a projected token at four fifths of its life. */
const RENEW_MS = TOKEN_SECONDS * 1000 * 0.8;

// Not a static import: nothing else of `aster` may ever load simulated members.
const { startMember } = await import('@asterism/sim');

const subtrees = new SubtreePool();

runWorker<MemberConfig, MemberReady>(async (config, signal) => {
  const logger = await fileLogger(config.logFile);
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
  await renew();
  const keepFresh = async (): Promise<void> => {
    while (!signal.aborted) {
      await sleep(systemClock, RENEW_MS, signal).catch(() => {});
      if (!signal.aborted) await renew().catch((error: unknown) => logger.warn({ err: error }, 'token not renewed'));
    }
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
): Promise<void> {
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
}
