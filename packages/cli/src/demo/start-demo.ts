import type { Client } from '@asterism/client';
import { isNotFound, type KubeObject, NAMESPACES } from '@asterism/machinery';
import type { MemberPlan } from '../up/member-plan.ts';
import { DEMO_NAMESPACE, demoManifests } from './manifests.ts';

/** On the demo's Namespace once all of it was applied: from then on it belongs to whoever plays with it. */
const APPLIED = 'asterism.dev/demo-applied';

/**
 * Applies the demo to the hub, once. What was changed, scaled or deleted since stays so at the next start; a start that was
 * killed half-way is taken up again.
 *
 * @returns whether this call applied it.
 */
export async function startDemo(hub: Client, members: readonly MemberPlan[]): Promise<boolean> {
  const namespaces = hub.resource(NAMESPACES);
  const existing = await namespaces.get({ name: DEMO_NAMESPACE }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (existing?.metadata?.annotations?.[APPLIED] === 'true') return false;
  for (const manifest of manifestsFor(members)) await apply(hub, manifest);
  const body = { metadata: { annotations: { [APPLIED]: 'true' } } };
  await namespaces.patch({ name: DEMO_NAMESPACE }, { type: 'merge', body });
  return true;
}

/** Two members with weights 1 and 2: the one that the hub dials, and the most private one there is. */
function manifestsFor(members: readonly MemberPlan[]): KubeObject[] {
  const first = members[0];
  const second = members.find((member) => member.private) ?? members[1];
  if (first === undefined || second === undefined) throw new Error('the demo needs two members');
  return demoManifests({
    weights: [
      { cluster: first.name, weight: 1 },
      { cluster: second.name, weight: 2 },
    ],
    region: second.region,
    registry: `registry.${second.region}.example`,
  });
}

async function apply(hub: Client, manifest: KubeObject): Promise<void> {
  const type = await hub.discovery.typeFor(manifest);
  await hub.resource(type).apply(manifest, { fieldManager: 'aster', force: true });
}
