import type { KubeObject } from '@asterism/machinery';
import type { Cluster as EngagedCluster, Informer, Request } from '@asterism/runtime';
import {
  CLUSTER_OVERRIDE_POLICIES,
  type Cluster,
  type ClusterOverridePolicy,
  OVERRIDE_POLICIES,
  type OverridePolicy,
} from '../../api/index.ts';
import { type Binding, bindingRequest } from '../../template/binding-client.ts';
import type { ManifestSource } from '../../template/manifest-source.ts';
import type { TemplateKey } from '../../template/template-key.ts';
import type { Templates } from '../../template/templates.ts';
import { byName } from '../../template/tie-break.ts';
import type { AnyOverridePolicy } from '../override/apply-overrides.ts';
import { OverrideTexts } from '../override/override-texts.ts';
import { TextThread } from '../override/text-thread.ts';
import { LoopTurns } from '../pace/loop-turns.ts';
import { createRenderer, isPlacedForCluster, type Rendered } from './render-manifest.ts';
import { TemplateNamespaces } from './template-namespaces.ts';

export interface BindingRendererOptions {
  templates: Templates;
  /** Asked in this order. A template that none of them serves is its own manifest. */
  sources?: readonly ManifestSource[] | undefined;
  changed: (binding: Binding) => void;
}

/** Renders the templates of bindings with the override policies and the Namespaces as the hub has them now. */
export class BindingRenderer {
  /** Lets others have the event loop between the steps of what takes long on a large template. */
  readonly pace = new LoopTurns();
  readonly #templates: Templates;
  readonly #namespaces: TemplateNamespaces;
  readonly #overrides: Informer<OverridePolicy>;
  readonly #clusterOverrides: Informer<ClusterOverridePolicy>;
  readonly #sources: readonly ManifestSource[];
  readonly #textThread = new TextThread();
  readonly #overrideTexts = new OverrideTexts(this.#textThread);

  readonly #changed: (binding: Binding) => void;

  /** @param options.changed - called with bindings whose templates are rendered otherwise, although the templates did not change. */
  constructor(local: EngagedCluster, { templates, sources = [], changed }: BindingRendererOptions) {
    this.#templates = templates;
    this.#sources = sources;
    this.#changed = changed;
    this.#namespaces = new TemplateNamespaces(templates.cluster, (name) => {
      for (const binding of templates.bindings.list()) if (binding.metadata.namespace === name) changed(binding);
    });
    this.#overrides = local.cache.informer(OVERRIDE_POLICIES);
    this.#clusterOverrides = local.cache.informer(CLUSTER_OVERRIDE_POLICIES);
  }

  /** Resolves when all is known that the rendering of this binding's template needs. */
  async ready(binding: Binding, signal: AbortSignal): Promise<void> {
    await this.#namespaces.ready(binding.spec.resource, signal);
  }

  /** @returns a function that renders the template for one of the binding's clusters. */
  rendererOf(binding: Binding, template: KubeObject): (cluster: Cluster) => Promise<Rendered> {
    const render = createRenderer(template, binding, this.#overridesOf(binding), {
      texts: this.#overrideTexts,
      pace: this.pace,
      placedForCluster: this.#isPlacedForCluster(binding),
      source: this.#sources.find((source) => source.serves(template)),
    });
    const namespaceLabels = this.#namespaces.labelsOf(binding.spec.resource);
    return async (cluster) => ({ ...(await render(cluster)), namespaceLabels });
  }

  /** Bindings of templates that the policy may change. */
  affectedBy({ metadata, spec }: AnyOverridePolicy): Request[] {
    const kinds = spec.resourceSelectors?.map(({ apiVersion, kind }) => `${apiVersion}/${kind}`) ?? [];
    return this.#templates.bindings
      .list()
      .filter(({ spec: { resource } }) => {
        const inReach = metadata.namespace === undefined || metadata.namespace === resource.namespace;
        return inReach && (kinds.length === 0 || kinds.includes(`${resource.apiVersion}/${resource.kind}`));
      })
      .map(bindingRequest);
  }

  /** Follows the sources, and keeps the thread for large texts, until the signal. */
  run(signal: AbortSignal): void {
    const changed = (key: TemplateKey): void => {
      const binding = this.#templates.bindings.ofTemplate(key);
      if (binding) this.#changed(binding);
    };
    for (const source of this.#sources) source.follow?.(changed, signal);
    signal.addEventListener('abort', () => void this.#textThread.stop(), { once: true });
  }

  #overridesOf({ metadata: { namespace } }: Binding): AnyOverridePolicy[] {
    const own = namespace
      ? this.#overrides.store.list().filter(({ metadata }) => metadata.namespace === namespace)
      : [];
    return [...this.#clusterOverrides.store.list(), ...own].toSorted((a, b) =>
      byName(a.metadata.name ?? '', b.metadata.name ?? ''),
    );
  }

  /** An object that follows others is changed by no more policies than they are, even if another policy places it too. */
  #isPlacedForCluster({ spec }: Binding): boolean {
    if (isPlacedForCluster(spec)) return true;
    const parents = (spec.requiredBy ?? []).map((parent) => this.#templates.bindings.ofTemplate(parent)?.spec);
    return parents.some((parent) => parent !== undefined && isPlacedForCluster(parent));
  }
}
