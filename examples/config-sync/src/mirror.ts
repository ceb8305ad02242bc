import { isDeepStrictEqual } from 'node:util';
import {
  type ConfigMap,
  isAlreadyExists,
  isInvalid,
  isNotFound,
  NAMESPACES,
  type ResourceType,
  type Secret,
} from '@asterism/machinery';
import {
  type Cluster,
  createController,
  type Manager,
  OwnedObjects,
  type PlacedObject,
  type ReconcileContext,
  type Request,
  type Result,
  throwFailure,
} from '@asterism/runtime';

/** What is labelled so in the main cluster stands in every other. */
export const MIRROR_LABEL = 'config-sync.example.dev/mirror';

export interface MirrorOptions {
  /** Marks what belongs to this operator and no other: a label's value. */
  domain: string;
}

/**
 * Keeps a copy of each labelled object of that kind in every member cluster, and it alone: what is changed there is changed back,
 * what is deleted is made again, and copies go with the object or with its label. An object of somebody else's is never touched.
 */
export function addMirror<T extends ConfigMap | Secret>(
  manager: Manager,
  type: ResourceType<T>,
  { domain }: MirrorOptions,
): void {
  const owners = { labelSelector: `${MIRROR_LABEL}=true` };
  const copies = new OwnedObjects({ manager, domain, owner: type, owned: type, clusters: 'members', owners });

  async function reconcile(request: Request, context: ReconcileContext): Promise<Result | void> {
    const source = context.cluster.cache.get(type, request);
    if (!source) return await clean(request, context);
    const wanted = copies.mark(copyOf(source), source);
    const standing = copies.of(source);
    const outcomes = await copies.inEach(request, context, async (cluster, signal) => {
      const found = standing.find((copy) => copy.cluster === cluster.name);
      await (found ? heal(cluster, found, wanted, signal) : create(cluster, wanted, signal));
    });
    throwFailure(outcomes);
  }

  async function create({ client }: Cluster, wanted: T, signal: AbortSignal): Promise<void> {
    try {
      await client.resource(type).create(wanted, { signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const namespace = { metadata: { name: wanted.metadata?.namespace } };
      await client.resource(NAMESPACES).create(namespace, { signal }).catch(unlessThere);
      await client.resource(type).create(wanted, { signal });
    }
  }

  async function heal({ client }: Cluster, { object }: PlacedObject<T>, wanted: T, signal: AbortSignal): Promise<void> {
    const annotations = { ...object.metadata?.annotations, ...wanted.metadata?.annotations };
    const metadata = { ...object.metadata, labels: wanted.metadata?.labels, annotations };
    const healed = { ...wanted, metadata };
    if (isDeepStrictEqual(contentOf(object), contentOf(healed))) return;
    try {
      await client.resource(type).update(healed, { signal });
    } catch (error) {
      if (!isInvalid(error)) throw error;
      // Somebody made the copy immutable: another takes its place, as soon as it is seen to be gone.
      const { namespace, name = '', uid } = metadata;
      await client.resource(type).delete({ namespace, name }, { preconditions: { uid }, signal });
    }
  }

  /** The object is gone, or has lost its label. */
  async function clean(request: Request, context: ReconcileContext): Promise<Result | void> {
    const { cluster, signal } = context;
    const live = await cluster.client.resource(type).get(request, { signal }).catch(undefinedWhereGone);
    if (live?.metadata?.labels?.[MIRROR_LABEL] === 'true') return; // The cache will say so too.
    const outcome = live ? await copies.deleteAll(live, context) : 'cleaned';
    return outcome === 'cleaned' ? await copies.collectGarbage(request, context) : outcome;
  }

  const controller = createController({ name: `mirror-${type.resource}`, concurrency: 8, reconcile });
  manager.add(controller.for(type, owners).source(copies.subscribe));
}

/** Without what is the main cluster's alone. */
function copyOf<T extends ConfigMap | Secret>(source: T): T {
  const { namespace, name, labels = {} } = source.metadata ?? {};
  const others = Object.entries(labels).filter(([key]) => key !== MIRROR_LABEL);
  return { ...source, metadata: { namespace, name, labels: Object.fromEntries(others) } };
}

/** All that is kept the same. */
function contentOf(object: ConfigMap | Secret): unknown {
  const { data, binaryData, immutable, type } = object as ConfigMap & Secret;
  const { labels, annotations } = object.metadata ?? {};
  return { data, binaryData, immutable, type, labels, annotations };
}

function unlessThere(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}

function undefinedWhereGone(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
