import type { KubeObject } from '@asterism/machinery';
import type { Cluster } from '../../api/index.ts';
import type { Binding } from '../../template/binding-client.ts';
import type { ManifestSource } from '../../template/manifest-source.ts';
import {
  type AnyOverridePolicy,
  applyOverrides,
  type Overridden,
  type OverrideSettings,
} from '../override/apply-overrides.ts';
import { TEMPLATE_ITSELF } from './template-itself.ts';

/** What a template becomes in one cluster, or, if an override failed, cannot become. */
export interface Rendered extends Omit<Overridden, 'object'> {
  objects: readonly KubeObject[];
  /** Of the template's Namespace: what a Namespace that is created for it there must have. */
  namespaceLabels?: Record<string, string> | undefined;
}

export interface RenderSettings extends OverrideSettings {
  /** Default: the template is its own manifest. */
  source?: ManifestSource | undefined;
}

/** Renders a template for its clusters: its source makes the manifests of each cluster, then overrides are applied. */
export function createRenderer(
  template: KubeObject,
  binding: Binding,
  policies: readonly AnyOverridePolicy[],
  { source = TEMPLATE_ITSELF, ...settings }: RenderSettings = {},
): (cluster: Cluster) => Promise<Rendered> {
  const manifestsOf = source.prepare(template, binding);
  const { placedForCluster = isPlacedForCluster(binding.spec), ...others } = settings;
  return async (cluster) => {
    const rendered: Overridden[] = [];
    for (const manifest of await manifestsOf(cluster)) {
      rendered.push(await applyOverrides(manifest, cluster, policies, { ...others, placedForCluster }));
    }
    return {
      objects: rendered.map(({ object }) => withoutEmptyMetadata(object)),
      policies: [...new Set(rendered.flatMap((each) => each.policies))],
      unapplied: rendered.flatMap(({ unapplied }) => unapplied),
    };
  };
}

/** Whether a policy of the cluster has placed the template by itself, and leaves it to no namespace to change it. */
export function isPlacedForCluster({ policy, allowNamespaceOverrides }: Binding['spec']): boolean {
  return policy?.kind === 'ClusterPropagationPolicy' && allowNamespaceOverrides !== true;
}

/**
 * A kube-apiserver keeps of an embedded object's metadata what is not empty. A Work that said more would never say what it
 * should.
 */
function withoutEmptyMetadata(object: KubeObject): KubeObject {
  const kept = Object.entries(object.metadata ?? {}).filter(([, value]) => !isEmpty(value));
  return { ...object, metadata: Object.fromEntries(kept) };
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}
