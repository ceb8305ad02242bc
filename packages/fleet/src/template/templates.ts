import type { KubeObject } from '@asterism/machinery';
import type { Cluster, InformerHandler } from '@asterism/runtime';
import type { Binding } from './binding-client.ts';
import { Bindings } from './bindings.ts';
import { DEPENDENCY_KINDS, dependencyKeysOf } from './dependencies.ts';
import { type Kind, KindInformers } from './kind-informers.ts';
import { followServedKinds } from './served-kinds.ts';
import { formatTemplateKey, type TemplateIdentity, type TemplateKey } from './template-key.ts';

const BY_DEPENDENCY = 'dependency';
const INDEXES = { [BY_DEPENDENCY]: (template: KubeObject) => dependencyKeysOf(template).map(formatTemplateKey) };

/** The kinds of objects that a template may need. */
export const DEPENDENCIES: readonly Kind[] = DEPENDENCY_KINDS.map((kind) => ({ apiVersion: 'v1', kind }));

/**
 * Templates and their bindings, as the hub's caches have them. Placement and delivery share one: each kind is watched once.
 *
 * T1  A kind is watched while a binding names a template of it. What a binding takes along is watched while it says so. Others add
 *     to this with `kinds.hold`.
 */
export class Templates {
  /** The API server that holds the templates. Its cache runs with the manager. */
  readonly cluster: Cluster;
  /** Whether the hub itself holds them, so that a binding can have its template as owner. */
  readonly areLocal: boolean;
  readonly bindings: Bindings;
  readonly kinds: KindInformers;
  #isFollowing = false;

  /** `local` is the hub. `cluster` is another API server that holds the templates, if it is not the hub. */
  constructor(local: Cluster, cluster: Cluster = local) {
    this.cluster = cluster;
    this.areLocal = cluster === local;
    this.bindings = new Bindings(local);
    this.kinds = new KindInformers({ cluster, indexes: INDEXES });
    this.bindings.addHandler(this.#holdKinds());
  }

  /** What the cache has, complete or not. */
  known({ namespace, name, ...kind }: TemplateKey): KubeObject | undefined {
    return this.kinds.store(kind)?.get(namespace ? `${namespace}/${name}` : name);
  }

  /**
   * The template of a binding; undefined if it is deleted or being deleted, or if another object has its name. Waits until the kind is
   * listed, and rejects if it cannot be.
   */
  async of({ spec: { resource } }: Binding, signal: AbortSignal): Promise<KubeObject | undefined> {
    await this.kinds.synced(resource, signal);
    const template = this.known(resource);
    const isIt = template?.metadata?.uid === resource.uid && !template?.metadata?.deletionTimestamp;
    return isIt ? template : undefined;
  }

  /** The templates that need this one. Waits until every kind that is held is listed: one of them could be missed. */
  async needing(key: TemplateIdentity, signal: AbortSignal): Promise<KubeObject[]> {
    const stores = await Promise.all(this.kinds.kinds().map((kind) => this.kinds.synced(kind, signal)));
    return stores.flatMap((store) => store?.byIndex(BY_DEPENDENCY, formatTemplateKey(key)) ?? []);
  }

  /** Looks again at the kinds whenever the API server begins or ceases to serve some, until the signal. */
  followServedKinds(signal: AbortSignal): void {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    signal.addEventListener('abort', () => (this.#isFollowing = false), { once: true });
    followServedKinds(this.cluster, this.kinds, signal);
  }

  #holdKinds(): InformerHandler {
    const hold = (object: KubeObject): void => {
      const binding = object as Binding;
      const { resource, propagateDeps } = binding.spec;
      this.kinds.hold(holderOf(binding), [resource, ...(propagateDeps ? DEPENDENCIES : [])]);
    };
    return {
      onAdd: hold,
      onUpdate: (_, binding) => hold(binding),
      onDelete: (binding) => this.kinds.hold(holderOf(binding as Binding), []),
    };
  }
}

function holderOf({ kind, metadata }: Binding): string {
  return `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
}
