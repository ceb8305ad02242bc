import type { AdmissionStep, Authorizer } from '@asterism/apiserver';
import type { Client } from '@asterism/client';
import { CLUSTERS } from '@asterism/fleet/api';
import { admitPolicies, protectDecisions } from '@asterism/fleet/place';
import { isNotFound, type ResourceType } from '@asterism/machinery';

/** For how long a list of the clusters is good, ms: it is asked for by users without a right to place everywhere. */
const CLUSTERS_KNOWN_MS = 2_000;

/** Admission of the hub's own kinds in an API server of its own. `local` is the hub in it, once it serves. */
export function hubAdmission(local: () => Client, now: () => number = () => performance.now()) {
  let known: { names: Promise<string[]>; until: number } | undefined;
  const clusters = (): Promise<string[]> => {
    if (known && now() < known.until) return known.names;
    known = { names: clusterNames(local()), until: now() + CLUSTERS_KNOWN_MS };
    known.names.catch(() => (known = undefined));
    return known.names;
  };
  return (authorizer: Authorizer): readonly AdmissionStep[] => [
    ...admitPolicies({ authorizer, clusters, typeOf: (kind) => typeOf(local(), kind) }),
    protectDecisions(authorizer),
  ];
}

async function clusterNames(client: Client): Promise<string[]> {
  const { items } = await client.resource(CLUSTERS).list();
  return items.map(({ metadata }) => metadata.name ?? '');
}

async function typeOf(
  { discovery }: Client,
  kind: { apiVersion: string; kind: string },
): Promise<ResourceType | undefined> {
  try {
    return await discovery.typeFor(kind);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
