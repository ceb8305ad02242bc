import {
  CLUSTER_OVERRIDE_POLICIES,
  CLUSTER_PROPAGATION_POLICIES,
  CLUSTERS,
  OVERRIDE_POLICIES,
  PROPAGATION_POLICIES,
  type PropagationPolicy,
} from '@asterism/fleet/api';
import type { Client } from '@asterism/client';
import { createRenderer } from '@asterism/fleet/deliver';
import {
  type PassedOver,
  passedOver,
  type Policies,
  readRights,
  servedVersions,
  unableToSelect,
  withRights,
} from '@asterism/fleet/place';
import type { Binding } from '@asterism/fleet/template';
import { isStatusError, type KubeObject } from '@asterism/machinery';
import type { Surroundings } from '../commands/explain-binding.ts';
import { describeError } from '../exit-code.ts';
import type { Terminal } from '../output/terminal.ts';
import { oneLine } from '../output/one-line.ts';

/** What else of the hub has to do with a template. What the caller may not read is named on the terminal, and left out. */
export async function readSurroundings(
  hub: Client,
  template: KubeObject,
  binding: Binding,
  terminal: Pick<Terminal, 'err'>,
): Promise<Surroundings> {
  const { apiVersion } = binding.spec.resource; // overrides are of one version
  const [others, overrides] = await Promise.all([
    unlessForbidden(readPassedOver(hub, template, binding), 'which other policies select it', terminal),
    unlessForbidden(readOverrides(hub, { ...template, apiVersion }, binding), 'which overrides change it', terminal),
  ]);
  return { passedOver: others ?? [], overrides: overrides ?? new Map() };
}

/** The policies that were perhaps meant for a template that is placed nowhere, and can select nothing, wherever they are. */
export async function readUnableToSelect(
  hub: Client,
  template: KubeObject,
  terminal: Pick<Terminal, 'err'>,
): Promise<PassedOver[]> {
  const namespace = template.metadata?.namespace;
  const what = 'which policies were meant to select it';
  const [cluster, namespaced] = await Promise.all([
    unlessForbidden(hub.resource(CLUSTER_PROPAGATION_POLICIES).list(), what, terminal),
    unlessForbidden(readNamespaced(hub, namespace), what, terminal),
  ]);
  return unableToSelect(template, { namespaced: namespaced ?? [], cluster: cluster?.items ?? [] });
}

/** In every namespace; in the one alone for who may not look into the others. */
async function readNamespaced(hub: Client, namespace: string | undefined): Promise<readonly PropagationPolicy[]> {
  const policies = hub.resource(PROPAGATION_POLICIES);
  try {
    return (await policies.list()).items;
  } catch (error) {
    if (!namespace || !isStatusError(error, 'Forbidden')) throw error;
    return (await policies.list({ namespace })).items;
  }
}

async function unlessForbidden<T>(
  reading: Promise<T>,
  what: string,
  terminal: Pick<Terminal, 'err'>,
): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (!isStatusError(error, 'Forbidden')) throw error;
    terminal.err(oneLine(`${what} is not told: ${describeError(error)}`));
    return undefined;
  }
}

async function readPassedOver(hub: Client, template: KubeObject, binding: Binding): Promise<PassedOver[]> {
  const namespace = template.metadata?.namespace;
  const [cluster, namespaced] = await Promise.all([
    hub.resource(CLUSTER_PROPAGATION_POLICIES).list(),
    namespace ? hub.resource(PROPAGATION_POLICIES).list({ namespace }) : { items: [] },
  ]);
  const policies = { namespaced: namespaced.items, cluster: cluster.items };
  const chosen = [...namespaced.items, ...cluster.items].find(
    ({ metadata }) => metadata.uid === binding.spec.policy?.uid,
  );
  if (!chosen) return [];
  const served = { ...policies, serves: await servedVersions(hub, [template], policies) };
  const others = passedOver(template, chosen, served);
  return others.length === 0 ? [] : await byRights(hub, others, { template, binding, policies: served });
}

interface Context {
  template: KubeObject;
  binding: Binding;
  policies: Policies;
}

/** A missing right may be why a policy does not place the template. Callers who must not list Clusters are not told so. */
async function byRights(
  hub: Client,
  others: readonly PassedOver[],
  { template, binding, policies }: Context,
): Promise<PassedOver[]> {
  const clusters = await hub
    .resource(CLUSTERS)
    .list()
    .catch((error: unknown) => {
      if (!isStatusError(error, 'Forbidden')) throw error;
      return undefined;
    });
  if (!clusters) return [...others];
  const fleet = { templates: [template], bindings: [binding], policies, overrides: new Set<string>() };
  const rights = await readRights(hub, { ...fleet, clusters: clusters.items });
  if ('unknown' in rights) return [...others];
  return others.map((each) => withRights(each, clusters.items, rights.groundsOf(each.policy, template)));
}

async function readOverrides(hub: Client, template: KubeObject, binding: Binding): Promise<Surroundings['overrides']> {
  const namespace = template.metadata?.namespace;
  const [clusters, clusterWide, own] = await Promise.all([
    hub.resource(CLUSTERS).list(),
    hub.resource(CLUSTER_OVERRIDE_POLICIES).list(),
    namespace ? hub.resource(OVERRIDE_POLICIES).list({ namespace }) : { items: [] },
  ]);
  const render = createRenderer(template, binding, [...clusterWide.items, ...own.items]);
  const chosen = new Set(binding.spec.clusters?.map(({ name }) => name));
  const reached = clusters.items.filter(({ metadata }) => chosen.has(metadata.name ?? ''));
  const policies = reached.map(
    async (cluster) => [cluster.metadata.name ?? '', (await render(cluster)).policies] as const,
  );
  return new Map(await Promise.all(policies));
}
