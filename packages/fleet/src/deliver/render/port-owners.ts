import { deepEqual, ifFound, type KubeObject, type ManagedFieldsEntry, SERVICES } from '@asterism/machinery';
import type { Cluster } from '@asterism/runtime';

/**
 * The `managedFields` of Services with node ports, which caches do not keep: they tell ports that somebody named from ports that the
 * API server allocated. They are asked for once for each change of more than a Service's status. (A manager that names a port that the
 * Service has already changes nothing else.)
 */
export class PortOwners {
  readonly #cluster: Cluster;
  /** By uid, as of a version in the cache. */
  readonly #known = new Map<string, { resourceVersion: string; managedFields: ManagedFieldsEntry[] }>();

  /** `cluster` holds the Services. */
  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Resolves with undefined if the Service is gone. */
  async of({ metadata = {} }: KubeObject, signal: AbortSignal): Promise<ManagedFieldsEntry[] | undefined> {
    const { uid = '', namespace, name = '', resourceVersion = '' } = metadata;
    const known = this.#known.get(uid);
    if (known?.resourceVersion === resourceVersion) return known.managedFields;
    const services = this.#cluster.client.resource(SERVICES);
    const live = await ifFound(services.get({ namespace, name }, { signal }));
    if (live?.metadata?.uid !== uid) return undefined;
    const { managedFields = [] } = live.metadata;
    this.#known.set(uid, { resourceVersion, managedFields });
    return managedFields;
  }

  /** Keeps what is known over a change of nothing but the status. The hub makes many of those itself. */
  keepOver({ metadata, ...before }: KubeObject, after: KubeObject): void {
    const known = this.#known.get(metadata?.uid ?? '');
    if (!known || known.resourceVersion !== metadata?.resourceVersion) return;
    if (deepEqual(before['status'], after['status'])) return;
    const { resourceVersion = '' } = after.metadata ?? {};
    const same = { ...before, metadata: { ...metadata, resourceVersion }, status: after['status'] };
    if (deepEqual(same, after)) known.resourceVersion = resourceVersion;
  }

  forget({ metadata }: KubeObject): void {
    this.#known.delete(metadata?.uid ?? '');
  }
}
