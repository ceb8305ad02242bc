import type { Hub } from '@asterism/hub';
import { SECRETS } from '@asterism/machinery';
import { CommandError } from '../exit-code.ts';
import type { MemberPlan } from './member-plan.ts';
import { MemberWithAgent } from './member-with-agent.ts';
import type { Progress } from './progress.ts';
import type { Workers } from './workers.ts';

const TOKEN_TTL_MS = 15 * 60_000;

/**
 * Starts every member with its agent, all at once. Resolves when all have joined; rejects with what kept one from it. The token
 * gives the member its labels, region and zones, and is deleted then: an agent whose credential was stored before a kill needs none, one that was killed half-way needs it again.
 */
export async function joinMembers(
  hub: Hub,
  plans: readonly MemberPlan[],
  context: { workers: Workers; dataDir: string; progress: Progress },
): Promise<void> {
  if (plans.length === 0) return;
  const { progress, workers, dataDir } = context;
  await Promise.all(
    plans.map(async (plan) => {
      const { name: cluster, provider, region, zones, labels } = plan;
      const facts = { provider, region, zones, labels };
      const { id, token } = await hub.createBootstrapToken({ ttl: TOKEN_TTL_MS, autoApprove: true, cluster, facts });
      try {
        await new MemberWithAgent(plan, { hub, token, dataDir, progress, ...workers }).join();
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        progress.failed(plan.name, message);
        throw new CommandError(`member ${plan.name}: ${message}`);
      }
      await hub.client.resource(SECRETS).delete({ namespace: 'kube-system', name: `bootstrap-token-${id}` });
    }),
  );
}
