import type { KubeObject } from '@asterism/machinery';
import {
  anyOf,
  type Cluster,
  type ControllerBuilder,
  generationChanged,
  type Informer,
  type InformerHandler,
  type Request,
} from '@asterism/runtime';
import {
  CLUSTER_PROPAGATION_POLICIES,
  type ClusterPropagationPolicy,
  type ObjectReference,
  PROPAGATION_POLICIES,
  type PropagationPolicy,
} from '../api/index.ts';
import type { Policy } from './match-policy.ts';
import type { PolicySource } from './policy-source.ts';
import { authorChanged } from './rights/author-changed.ts';

const BY_NAMESPACE = 'namespace';

/** The policies of the hub, as its cache has them. */
export class OwnPolicies implements PolicySource {
  readonly #namespaced: Informer<PropagationPolicy>;
  readonly #clusterWide: Informer<ClusterPropagationPolicy>;

  constructor(local: Cluster) {
    this.#namespaced = local.cache.informer(PROPAGATION_POLICIES);
    this.#namespaced.addIndex(BY_NAMESPACE, namespaceIndex);
    this.#clusterWide = local.cache.informer(CLUSTER_PROPAGATION_POLICIES);
  }

  ofNamespace(namespace: string): readonly PropagationPolicy[] {
    return this.#namespaced.store.byIndex(BY_NAMESPACE, namespace);
  }

  clusterWide(): readonly ClusterPropagationPolicy[] {
    return this.#clusterWide.store.list();
  }

  get({ namespace, name }: ObjectReference): Policy | undefined {
    return namespace ? this.#namespaced.store.get(`${namespace}/${name}`) : this.#clusterWide.store.get(name);
  }

  addHandler(handler: InformerHandler<Policy>): void {
    this.#namespaced.addHandler(handler as InformerHandler<PropagationPolicy>);
    this.#clusterWide.addHandler(handler as InformerHandler<ClusterPropagationPolicy>);
  }

  watch(controller: ControllerBuilder, affected: (policy: Policy) => Request[]): void {
    // A policy that somebody else takes over has other rights.
    const options = { predicates: [anyOf(generationChanged, authorChanged)] };
    controller
      .watches<PropagationPolicy>(PROPAGATION_POLICIES, affected, options)
      .watches<ClusterPropagationPolicy>(CLUSTER_PROPAGATION_POLICIES, affected, options);
  }
}

function namespaceIndex({ metadata }: KubeObject): string[] {
  return metadata?.namespace ? [metadata.namespace] : [];
}
