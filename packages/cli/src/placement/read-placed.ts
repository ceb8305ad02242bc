import {
  CLUSTER_OVERRIDE_POLICIES,
  CLUSTER_RESOURCE_BINDINGS,
  type Cluster,
  CLUSTERS,
  OVERRIDE_POLICIES,
  RESOURCE_BINDINGS,
} from '@asterism/fleet/api';
import type { AnyOverridePolicy } from '@asterism/fleet/deliver';
import { previewPlacements } from '@asterism/fleet/place';
import { type Binding } from '@asterism/fleet/template';
import { isNotFound, type KubeObject, objectKey } from '@asterism/machinery';
import { inParallel } from '../in-parallel.ts';
import type { Session } from '../session.ts';
import type { Terminal } from '../output/terminal.ts';
import { checkRights } from './check-rights.ts';
import { imagineFleet, type ImaginedScope, readTargets } from './imagine-fleet.ts';

/** A template, and where it shall stand. */
export interface Placed {
  template: KubeObject;
  /** Undefined where it is placed nowhere. */
  binding: Binding | undefined;
}

/** What shall stand in the members, and all that it takes to render it. */
export interface PlacedFleet {
  placed: readonly Placed[];
  clusters: readonly Cluster[];
  overrides: readonly AnyOverridePolicy[];
}

/** Requests of one kind that are under way together. */
const AT_ONCE = 16;

/** As the hub has decided it; with files, as it would decide if they were applied. */
export async function readPlaced(
  session: Session,
  scope: ImaginedScope,
  terminal: Pick<Terminal, 'err'>,
): Promise<PlacedFleet> {
  const { hub } = session;
  const { files } = scope;
  const [{ placed, clusters }, own, clusterWide] = await Promise.all([
    files ? imaginePlaced(session, scope, terminal) : readDecided(session, scope),
    hub.resource(OVERRIDE_POLICIES).list({ namespace: overrideNamespace(session, scope) }),
    hub.resource(CLUSTER_OVERRIDE_POLICIES).list(),
  ]);
  const imagined = files?.overrides ?? [];
  const isReplaced = (policy: AnyOverridePolicy): boolean =>
    imagined.some((each) => each.kind === policy.kind && objectKey(each) === objectKey(policy));
  const present: AnyOverridePolicy[] = [...own.items, ...clusterWide.items];
  return { placed, clusters, overrides: [...present.filter((policy) => !isReplaced(policy)), ...imagined] };
}

/** Files may be of any namespace; so may what is named without one. */
function overrideNamespace(session: Session, { targets, files, namespace }: ImaginedScope): string | undefined {
  if (files) return undefined;
  return targets.length > 0 ? session.namespace : namespace;
}

async function imaginePlaced(
  session: Session,
  scope: ImaginedScope,
  terminal: Pick<Terminal, 'err'>,
): Promise<Omit<PlacedFleet, 'overrides'>> {
  const fleet = await checkRights(session.hub, await imagineFleet(session, scope), terminal);
  const placed = previewPlacements(fleet).map(({ template, before, after }): Placed => {
    if (after || !before) return { template, binding: after };
    const { clusters: _, ...spec } = before.spec;
    return { template, binding: { ...before, spec } as Binding };
  });
  return { placed, clusters: fleet.clusters };
}

async function readDecided(session: Session, scope: ImaginedScope): Promise<Omit<PlacedFleet, 'overrides'>> {
  const { hub } = session;
  const { targets } = scope;
  const isNamed = targets.length > 0;
  const namespace = isNamed ? session.namespace : scope.namespace;
  const wantsClusterScope = isNamed ? targets.some(({ resource }) => !resource.namespaced) : namespace === undefined;
  const [{ items: clusters }, own, clusterWide, named] = await Promise.all([
    hub.resource(CLUSTERS).list(),
    hub.resource(RESOURCE_BINDINGS).list({ namespace }),
    wantsClusterScope ? hub.resource(CLUSTER_RESOURCE_BINDINGS).list() : { items: [] },
    isNamed ? readTargets(session, scope) : undefined,
  ]);
  const bindings: Binding[] = [...own.items, ...clusterWide.items];
  if (named === undefined) return { placed: await readTemplates(session, bindings), clusters };
  const placed = named.map((template) => ({
    template,
    binding: bindings.find(({ spec }) => spec.resource.uid === template.metadata?.uid),
  }));
  // Of a whole kind only what is placed is meant.
  const isSingle = targets.some(({ names }) => names.length > 0);
  return { placed: isSingle ? placed : placed.filter(({ binding }) => binding), clusters };
}

async function readTemplates({ hub }: Session, bindings: readonly Binding[]): Promise<Placed[]> {
  const read = async ({ spec: { resource } }: Binding): Promise<KubeObject | undefined> => {
    try {
      const type = await hub.discovery.typeFor(resource);
      return await hub.resource(type).get({ namespace: resource.namespace, name: resource.name });
    } catch (error) {
      if (isNotFound(error)) return undefined; // deleted in between: its binding goes with it
      throw error;
    }
  };
  const placed: Placed[] = [];
  for await (const [binding, template] of inParallel(bindings, AT_ONCE, read)) {
    if (template) placed.push({ template, binding });
  }
  return placed;
}
