import type { Client } from '@asterism/client';
import {
  CLUSTER_RESOURCE_BINDINGS,
  type ResourceBinding,
  RESOURCE_BINDINGS,
  WORKS,
  type Work,
} from '@asterism/fleet/api';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import { keyOf, type Known, type Shares } from './expected.ts';
import { RESOURCES } from './wanted.ts';

/** All that the hub holds, as lists show it now. */
export interface HubView {
  /** By the key of their template. */
  bindings: ReadonlyMap<string, ResourceBinding>;
  works: readonly Work[];
  clusterBindings: number;
  /** By their key; of the namespaces that were asked for. */
  templates: ReadonlyMap<string, KubeObject>;
}

export async function viewHub(client: Client, namespaces: readonly string[]): Promise<HubView> {
  const listed = async <T extends KubeObject>(type: ResourceType<T>): Promise<readonly T[]> =>
    (await client.resource(type).list()).items;
  const [bindings, works, clusterBindings, ...templates] = await Promise.all([
    listed(RESOURCE_BINDINGS),
    listed(WORKS),
    listed(CLUSTER_RESOURCE_BINDINGS),
    ...RESOURCES.map(async (type) => (await listed(type)).map((object) => ({ ...object, kind: type.kind }))),
  ]);
  const ours = templates.flat().filter(({ metadata }) => namespaces.includes(metadata?.namespace ?? ''));
  return {
    bindings: new Map(bindings.map((binding) => [keyOfTemplate(binding), binding])),
    works,
    clusterBindings: clusterBindings.length,
    templates: new Map(ours.map((template) => [keyOf(template), template])),
  };
}

/** What only a hub knows, out of what it says. */
export function knownBy({ bindings, templates }: HubView): Known {
  return {
    uid: (key) => templates.get(key)?.metadata?.uid ?? '',
    shares: (key) => {
      const clusters = bindings.get(key)?.spec.clusters;
      return clusters && sharesOf(clusters);
    },
  };
}

export function sharesOf(clusters: NonNullable<ResourceBinding['spec']['clusters']>): Shares {
  return new Map(clusters.map(({ name, replicas }) => [name, replicas]));
}

function keyOfTemplate({ spec: { resource } }: ResourceBinding): string {
  return `${resource.kind} ${resource.namespace}/${resource.name}`;
}
