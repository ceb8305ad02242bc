import {
  isJsonObject,
  type KubeObject,
  NAMESPACES,
  parseApiVersion,
  parseJson,
  type ResourceType,
  validateLabelValue,
} from '@asterism/machinery';
import type { Client } from '@asterism/client';
import { LOCAL_CLUSTER, type Request } from '../controller/reconcile.ts';

/*
 * An `ownerReferences` entry works within one cluster alone: elsewhere its uid is unknown, and the garbage collector there takes
 * the owner for gone and removes the object. So an owner in another cluster is told by two labels, to select by, and an
 * annotation, to find it by. Nobody but the controller itself acts on them.
 */

/**
 * Label: whose ownership it is, so that two operators (or two installations of one) never take each other's objects.
 *
 * @example
 * ```ts
 * const marked = deployment.metadata?.labels?.[OWNER_DOMAIN_LABEL] !== undefined;
 * ```
 */
export const OWNER_DOMAIN_LABEL = 'asterism.dev/owner-domain';
/**
 * Label: the owner's uid.
 *
 * @example
 * ```ts
 * const marked = deployment.metadata?.labels?.[OWNER_UID_LABEL] !== undefined;
 * ```
 */
export const OWNER_UID_LABEL = 'asterism.dev/owner-uid';
/**
 * Annotation: the owner's cluster, kind and name, as JSON.
 *
 * @example
 * ```ts
 * const marked = deployment.metadata?.annotations?.[OWNER_ANNOTATION] !== undefined;
 * ```
 */
export const OWNER_ANNOTATION = 'asterism.dev/owner';

/**
 * An owner as an object in any cluster tells of it.
 *
 * @example {@link clusterOwnerOf}
 */
export interface ClusterOwner {
  /** The name that the owner's cluster has with the manager; `''` is the local one. */
  cluster: string;
  apiVersion: string;
  kind: string;
  namespace?: string | undefined;
  name: string;
  uid: string;
}

/**
 * What owners can be marked on.
 *
 * @example {@link markOwned}
 */
export interface Markable {
  metadata?: {
    namespace?: string | undefined;
    name?: string | undefined;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
}

/**
 * The object with the marks of its owner, to be applied or created in any cluster. Nothing is changed in place.
 *
 * @throws TypeError for an owner that was not read from a server, and a domain that cannot be a label's value.
 * @example
 * ```ts
 * const job = { metadata: { namespace: 'shop', name: 'web' }, spec: { suspend: true } };
 * await apply(member.client, JOBS, markOwned(job, { domain: 'tests.example.dev', owner: test }));
 * ```
 */
export function markOwned<T extends Markable>(
  object: T,
  by: { domain: string; owner: KubeObject; cluster?: string },
): T {
  const { domain, owner, cluster = LOCAL_CLUSTER } = by;
  const { apiVersion, kind, metadata: { namespace, name, uid } = {} } = owner;
  if (!apiVersion || !kind || !name || !uid) {
    throw new TypeError(`${kind ?? 'an object'} "${name ?? ''}" cannot own: it needs apiVersion, kind, name and uid`);
  }
  checkDomain(domain);
  const reference = JSON.stringify({ cluster, apiVersion, kind, namespace, name });
  const { labels, annotations } = object.metadata ?? {};
  return {
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...labels, [OWNER_DOMAIN_LABEL]: domain, [OWNER_UID_LABEL]: uid },
      annotations: { ...annotations, [OWNER_ANNOTATION]: reference },
    },
  };
}

/**
 * The owner of an object within that domain; undefined where it has none there, or its marks were damaged.
 *
 * @example
 * ```ts
 * const owner = clusterOwnerOf(deployment, 'tests.example.dev');
 * if (owner) logger.info({ ...owner }, 'is owned');
 * ```
 */
export function clusterOwnerOf(object: KubeObject, domain: string): ClusterOwner | undefined {
  const { labels = {}, annotations = {} } = object.metadata ?? {};
  const uid = labels[OWNER_UID_LABEL];
  const text = annotations[OWNER_ANNOTATION];
  if (labels[OWNER_DOMAIN_LABEL] !== domain || !uid || !text) return undefined;
  const reference = parsed(text);
  if (!isJsonObject(reference)) return undefined;
  const { cluster, apiVersion, kind, namespace, name } = reference;
  const texts = [cluster, apiVersion, kind, name, namespace ?? ''];
  if (!texts.every((each) => typeof each === 'string') || !name) return undefined;
  return { cluster, apiVersion, kind, name, uid, ...(namespace ? { namespace } : {}) } as ClusterOwner;
}

/**
 * Selects what is owned in that domain. For the `labelSelector` of an informer or a source.
 *
 * @example
 * ```ts
 * const informer = cluster.cache.informer(JOBS, { labelSelector: ownedSelector('tests.example.dev') });
 * ```
 */
export function ownedSelector(domain: string): string {
  checkDomain(domain);
  return `${OWNER_DOMAIN_LABEL}=${domain}`;
}

/**
 * `owns` across clusters, as a handler: what is owned asks for its owner, wherever that lives.
 *
 * It tells of objects. That a cluster has come, in which nothing stands yet, is what {@link OwnedObjects} tells.
 *
 * @example
 * ```ts
 * const domain = 'tests.example.dev';
 * createController({ name: 'tests', reconcile })
 *   .for(TESTS)
 *   .watches(JOBS, ownerRequests(TESTS, domain), { clusters: 'all', labelSelector: ownedSelector(domain) });
 * ```
 */
export function ownerRequests(owner: ResourceType, domain: string): (object: KubeObject) => Request[] {
  checkDomain(domain);
  return (object) => {
    const found = clusterOwnerOf(object, domain);
    return found && isOfKind(found, owner) ? [requestFor(found)] : [];
  };
}

/** Whether the owner is of that kind, in whatever version of its group it was written. */
export function isOfKind(owner: ClusterOwner, type: ResourceType): boolean {
  return owner.kind === type.kind && parseApiVersion(owner.apiVersion).group === type.group;
}

/** What to reconcile for that owner. */
export function requestFor({ cluster, namespace, name }: ClusterOwner): Request {
  return { cluster, namespace, name };
}

/**
 * What tells a cluster from every other for as long as it lives: the uid of its `kube-system`. Good for a domain that no second
 * installation has.
 *
 * @throws StatusError where it may not be read.
 * @example
 * ```ts
 * const domain = `tests.${await readClusterId(client, { signal })}`;
 * ```
 */
export async function readClusterId(
  client: Client,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<string> {
  const { metadata } = await client.resource(NAMESPACES).get({ name: 'kube-system' }, options);
  return metadata?.uid ?? '';
}

function checkDomain(domain: string): void {
  const faults = domain === '' ? ['must not be empty'] : validateLabelValue(domain);
  if (faults.length > 0) throw new TypeError(`the domain "${domain}" of owners is no good: ${faults.join('; ')}`);
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
