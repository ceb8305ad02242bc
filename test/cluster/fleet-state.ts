import { RESOURCE_BINDINGS, WORKS } from '@asterism/fleet/api';
import { DEPLOYMENTS, type KubeObject, PODS, REPLICA_SETS } from '@asterism/machinery';
import type { Fleet, Member } from './fleet.ts';
import { DEMO, SETTINGS } from './fleet-scenario.ts';

/** Who an object is, and how often its spec was written. */
interface Identity {
  uid: string | undefined;
  generation?: number | undefined;
}

/** All that the demo consists of, in the hub and in its members. */
export interface FleetState {
  deployment: Identity;
  /** By name: of the Deployment, of what it mounts, of the settings. */
  bindings: Record<string, Identity>;
  /** By the kind and name of what they place, and their namespace. Of the settings', which tests change at will, the uid alone. */
  works: Record<string, Identity>;
  members: Record<string, MemberState>;
}

interface MemberState {
  /** One: what is doubled would stand beside it. */
  deployments: Identity[];
  replicaSets: Identity[];
  /** uid, and how often its containers were started again. */
  pods: { uid: string | undefined; restarts: number }[];
}

const namespace = DEMO.namespace;

export async function readFleetState({ client, members }: Fleet): Promise<FleetState> {
  const deployment = await client.resource(DEPLOYMENTS).get(DEMO);
  const bindings = await client.resource(RESOURCE_BINDINGS).list({ namespace });
  const works = (await client.resource(WORKS).list()).items;
  return {
    deployment: identity(deployment),
    bindings: Object.fromEntries(bindings.items.map((binding) => [binding.metadata.name, identity(binding)])),
    works: Object.fromEntries(
      works
        .map(({ metadata, spec }) => {
          const { kind, metadata: placed } = spec.manifests[0] as KubeObject;
          const { uid, generation } = metadata;
          const key = `${kind} ${placed?.name} in ${metadata.namespace}: ${metadata.name}`;
          return [key, placed?.name === SETTINGS.name ? { uid } : { uid, generation }] as const;
        })
        .toSorted(([a], [b]) => a.localeCompare(b)),
    ),
    members: Object.fromEntries(
      await Promise.all(members.map(async (member) => [member.name, await readMember(member)] as const)),
    ),
  };
}

/** What the state is to be when the Deployment's spec has been changed `times`, and nothing else has happened. */
export function afterChanges(state: FleetState, times: number): FleetState {
  const grown = ({ uid, generation = 0 }: Identity): Identity => ({ uid, generation: generation + times });
  return {
    deployment: grown(state.deployment),
    bindings: state.bindings,
    works: Object.fromEntries(
      Object.entries(state.works).map(([key, work]) => [key, key.startsWith('Deployment ') ? grown(work) : work]),
    ),
    members: Object.fromEntries(
      Object.entries(state.members).map(([name, member]) => [
        name,
        { ...member, deployments: member.deployments.map(grown) },
      ]),
    ),
  };
}

async function readMember({ controlPlane: { client } }: Member): Promise<MemberState> {
  const byUid = (a: { uid: string | undefined }, b: { uid: string | undefined }): number =>
    (a.uid ?? '').localeCompare(b.uid ?? '');
  const [deployments, replicaSets, pods] = await Promise.all([
    client.resource(DEPLOYMENTS).list({ namespace }),
    client.resource(REPLICA_SETS).list({ namespace }),
    client.resource(PODS).list({ namespace }),
  ]);
  return {
    deployments: deployments.items.map(identity),
    replicaSets: replicaSets.items.map(({ metadata }) => ({ uid: metadata?.uid })).toSorted(byUid),
    pods: pods.items
      .map(({ metadata, status }) => ({
        uid: metadata?.uid,
        restarts: (status?.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0),
      }))
      .toSorted(byUid),
  };
}

function identity({ metadata }: KubeObject): Identity {
  return { uid: metadata?.uid, generation: metadata?.generation };
}
