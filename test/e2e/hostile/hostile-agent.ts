import { runAgent } from '@asterism/agent';
import { startTestServer } from '@asterism/apiserver/testing';
import {
  createClient,
  createTransport,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from '@asterism/client';
import { AGENT_CREDENTIAL_SECRET, AGENT_SERVICE_ACCOUNT, SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import { memberManifests } from '@asterism/fleet/join';
import { runReachAgent } from '@asterism/fleet/reach';
import { SECRETS } from '@asterism/machinery';
import { silentLogger } from '@asterism/runtime';
import { runAster } from '../../cluster/aster.ts';
import type { OpenHub } from '../../cluster/fleet.ts';

/** What a hostile cluster answers to one call. */
export type Answerer = (request: TransportRequest) => TransportResponse;

/**
 * A cluster that joined as every other, and whose agent was then taken over: with the agent's own credentials it answers what
 * `answer` makes. Resolves when its tunnel is there.
 */
export async function startHostileAgent(
  { hub }: OpenHub,
  name: string,
  answer: Answerer,
  parts: AsyncDisposableStack,
): Promise<void> {
  const flags = ['--kubeconfig', hub.kubeconfig, '--cluster', name, '--auto-approve', '-o', 'json'];
  const told = JSON.parse(await runAster(['token', 'create', ...flags])) as {
    token: string;
    hub: string;
    hubCa: string;
  };
  const member = parts.use(await startTestServer());
  for (const object of memberManifests({ syncMode: 'Pull' })) {
    await member.client.resource(await member.client.discovery.typeFor(object)).create(object);
  }
  const accounts = `system:serviceaccounts`;
  const agent = runAgent({
    clusterName: name,
    syncMode: 'Pull',
    hub: { server: told.hub, ca: told.hubCa, token: told.token },
    member: member.connectionAs({
      username: `system:serviceaccount:${SYSTEM_NAMESPACE}:${AGENT_SERVICE_ACCOUNT}`,
      groups: [accounts, `${accounts}:${SYSTEM_NAMESPACE}`, 'system:authenticated'],
    }),
    logger: silentLogger,
  });
  await agent.ready;
  const ref = { namespace: SYSTEM_NAMESPACE, name: AGENT_CREDENTIAL_SECRET };
  const { data = {} } = await member.client.resource(SECRETS).get(ref);
  await agent[Symbol.asyncDispose]();
  const text = (entry: string): string => Buffer.from(data[entry] ?? '', 'base64').toString();
  const credential = { kind: 'certificate', cert: text('tls.crt'), key: text('tls.key') } as const;
  const transport = parts.use(createTransport({ server: told.hub, caData: text('ca.crt'), credential }));
  const ended = new AbortController();
  const { promise: connected, resolve } = Promise.withResolvers<void>();
  const running = runReachAgent(
    {
      clusterName: name,
      syncMode: 'Pull',
      hub: createClient({ transport }),
      member: hostileTransport(answer),
      logger: silentLogger,
      onStateChange: (state) => {
        if (state.state === 'connected') resolve();
      },
    },
    ended.signal,
  );
  parts.defer(async () => {
    ended.abort();
    await running.catch(() => {});
  });
  await connected;
}

function hostileTransport(answer: Answerer): Transport {
  return {
    request: async (request) => answer(request),
    upgrade: async (request) => answer(request),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
