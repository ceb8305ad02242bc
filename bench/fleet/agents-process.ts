// A process behind fleet.ts: members, each an API server of its own, with an agent each.
import { runAgent } from '../../packages/agent/src/index.ts';
import { startTestServer } from '../../packages/apiserver/src/testing/index.ts';
import { AGENT_SERVICE_ACCOUNT, SYSTEM_NAMESPACE } from '../../packages/fleet/src/api/index.ts';
import { NAMESPACES } from '../../packages/machinery/src/index.ts';
import { silentLogger } from '../../packages/runtime/src/index.ts';
import type { AgentsAnswer, ToAgents } from './fleet.ts';

process.on('SIGINT', () => {}); // The parent decides.
process.on('disconnect', () => process.exit(0));

/** How many join at once: a person does not join a thousand clusters in a second. */
const AT_ONCE = 20;

async function join({ server, ca, token }: ToAgents, clusterName: string): Promise<string> {
  const member = await startTestServer({ authorization: 'AlwaysAllow' });
  const namespaces = member.client.resource(NAMESPACES);
  await namespaces.create({ metadata: { name: SYSTEM_NAMESPACE } });
  const agent = runAgent({
    clusterName,
    syncMode: 'Pull',
    hub: { server, ca, token },
    member: member.connectionAs({
      username: `system:serviceaccount:${SYSTEM_NAMESPACE}:${AGENT_SERVICE_ACCOUNT}`,
      groups: ['system:serviceaccounts', 'system:authenticated'],
    }),
    logger: silentLogger,
  });
  agent.done.catch((error: Error) => process.send?.({ failure: `${clusterName}: ${error.message}` }));
  await agent.ready;
  return (await namespaces.get({ name: 'kube-system' })).metadata?.uid ?? '';
}

async function joinAll(asked: ToAgents): Promise<AgentsAnswer> {
  const uids: Record<string, string> = {};
  const left = Array.from({ length: asked.count }, (_, index) => `${asked.prefix}-${index}`);
  const row = async (): Promise<void> => {
    for (let name = left.pop(); name; name = left.pop()) uids[name] = await join(asked, name);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, row));
  return { uids };
}

process.on('message', (asked: ToAgents) => {
  joinAll(asked).then(
    (answer) => process.send?.(answer),
    (error: Error) => process.send?.({ failure: error.message }),
  );
});
process.send?.({});
