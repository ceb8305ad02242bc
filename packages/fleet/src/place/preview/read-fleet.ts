import type { Client } from '@asterism/client';
import { isNotFound, type KubeObject, objectKey } from '@asterism/machinery';
import {
  CLUSTER_OVERRIDE_POLICIES,
  CLUSTER_PROPAGATION_POLICIES,
  CLUSTER_RESOURCE_BINDINGS,
  CLUSTERS,
  OVERRIDE_POLICIES,
  PROPAGATION_POLICIES,
  RESOURCE_BINDINGS,
} from '../../api/index.ts';
import type { Binding } from '../../template/binding-client.ts';
import type { Kind } from '../../template/kind-informers.ts';
import { bestSpecificity, isOf, type Policies, type Policy, selectionBy } from '../match-policy.ts';
import { formatTemplateKey, type TemplateKey, templateKeyOf } from '../../template/template-key.ts';
import { dependencyKeysOf } from '../../template/dependencies.ts';
import type { ImaginedFleet } from './preview-placements.ts';
import { servedVersions } from './served-versions.ts';

/** Which part of a hub's templates is asked about, and what of it is imagined. */
export interface FleetScope {
  /** `Templates`: those given. `Policies`: also what the given policies select or have placed. `Placed`: also all that is placed. */
  about: 'Templates' | 'Policies' | 'Placed';
  /** Only what is in this namespace; undefined: everywhere, what has no namespace too. */
  namespace?: string | undefined;
  /** As they would be: new ones and changed ones. */
  templates?: readonly KubeObject[] | undefined;
  /** As they would be: new ones and changed ones. */
  policies?: readonly Policy[] | undefined;
  /** Override policies that there would be besides. */
  overrides?: readonly KubeObject[] | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Reads from a hub what {@link ImaginedFleet} holds, as the caller of the client: what that may not read it cannot be told of, and the
 * refusal is passed on. Kinds are listed whole, so that many templates cost no more calls than few.
 */
export async function readFleet(hub: Client, scope: FleetScope): Promise<ImaginedFleet> {
  const { namespace, signal } = scope;
  const [clusters, namespaced, cluster, own, clusterWide] = await Promise.all([
    hub.resource(CLUSTERS).list({ signal }),
    hub.resource(PROPAGATION_POLICIES).list({ namespace, signal }),
    hub.resource(CLUSTER_PROPAGATION_POLICIES).list({ signal }),
    hub.resource(RESOURCE_BINDINGS).list({ namespace, signal }),
    namespace === undefined ? hub.resource(CLUSTER_RESOURCE_BINDINGS).list({ signal }) : { items: [] },
  ]);
  const bindings: Binding[] = [...own.items, ...clusterWide.items];
  const { policies: changed = [] } = scope;
  const policies = {
    namespaced: imagined(
      namespaced.items,
      changed.filter((policy) => policy.kind === 'PropagationPolicy'),
    ),
    cluster: imagined(
      cluster.items,
      changed.filter((policy) => policy.kind === 'ClusterPropagationPolicy'),
    ),
  };
  const reader = new TemplateReader(hub, scope);
  const needs = takesOthersAlong(policies, bindings);
  const [templates, overrides] = await Promise.all([reader.read(bindings, needs), readOverrides(hub, policies, scope)]);
  const serves = await servedVersions(hub, templates, policies);
  return { templates, bindings, policies: { ...policies, serves }, overrides, clusters: clusters.items };
}

/** Only those on which a policy depends are looked at, for it takes the right to read them. */
async function readOverrides(hub: Client, policies: Policies, scope: FleetScope): Promise<ReadonlySet<string>> {
  const { namespace, overrides: imaginedOnes = [], signal } = scope;
  const depends = ({ spec }: Policy): boolean => (spec.dependentOverrides ?? []).length > 0;
  const [own, clusterWide] = await Promise.all([
    policies.namespaced.some(depends) ? hub.resource(OVERRIDE_POLICIES).list({ namespace, signal }) : { items: [] },
    policies.cluster.some(depends) ? hub.resource(CLUSTER_OVERRIDE_POLICIES).list({ signal }) : { items: [] },
  ]);
  return new Set([...own.items, ...clusterWide.items, ...imaginedOnes].map(objectKey));
}

/** What a policy of the scope says takes the place of what it says now. */
function imagined<P extends Policy>(present: readonly P[], changed: readonly P[]): P[] {
  const replaced = new Set(changed.map(nameOf));
  return [...present.filter((policy) => !replaced.has(nameOf(policy))), ...changed];
}

function nameOf({ metadata }: Policy): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

/** Whether what a template needs may have to be looked at too, which takes the right to read it. */
function takesOthersAlong({ namespaced, cluster }: Policies, bindings: readonly Binding[]) {
  const taking = bindings.filter(({ spec }) => spec.propagateDeps).map(({ spec }) => formatTemplateKey(spec.resource));
  const placed = new Set(taking);
  const policies = [...namespaced, ...cluster].filter(({ spec }) => spec.propagateDeps);
  return (template: KubeObject): boolean =>
    placed.has(formatTemplateKey(templateKeyOf(template))) ||
    policies.some((policy) => selectionBy(policy, template) !== undefined);
}

class TemplateReader {
  readonly #hub: Client;
  readonly #scope: FleetScope;
  /** By kind and namespace, each listed once. */
  readonly #lists = new Map<string, Promise<readonly KubeObject[]>>();

  constructor(hub: Client, scope: FleetScope) {
    this.#hub = hub;
    this.#scope = scope;
  }

  /** The templates of the scope, then what they need, each once. */
  async read(bindings: readonly Binding[], needs: (template: KubeObject) => boolean): Promise<KubeObject[]> {
    const asked = await this.#asked(bindings);
    const found = new Map(asked.map((template) => [formatTemplateKey(templateKeyOf(template)), template]));
    let needing = asked.filter(needs);
    while (needing.length > 0) {
      const needed = needing.flatMap(dependencyKeysOf).filter((key) => !found.has(formatTemplateKey(key)));
      needing = await this.#named(needed);
      for (const template of needing) found.set(formatTemplateKey(templateKeyOf(template)), template);
    }
    return [...found.values()];
  }

  async #asked(bindings: readonly Binding[]): Promise<readonly KubeObject[]> {
    const { about, templates = [], policies = [] } = this.#scope;
    if (about === 'Templates') return templates;
    const isAskedAbout = ({ spec }: Binding): boolean =>
      about === 'Placed' || policies.some((policy) => spec.policy !== undefined && isOf(spec.policy, policy));
    const selected = await Promise.all(policies.map((policy) => this.#selectedBy(policy)));
    const placed = await this.#named(bindings.filter(isAskedAbout).map(({ spec }) => spec.resource));
    return [...selected.flat(), ...placed, ...templates];
  }

  async #selectedBy({ metadata, spec }: Policy): Promise<KubeObject[]> {
    const lists = await Promise.all(
      spec.resourceSelectors.map((selector) => this.#list(selector, metadata.namespace ?? selector.namespace)),
    );
    return lists.flat().filter((object) => bestSpecificity(spec.resourceSelectors, object, metadata.namespace) > 0);
  }

  async #named(keys: readonly TemplateKey[]): Promise<KubeObject[]> {
    const wanted = new Set(keys.map(formatTemplateKey));
    const lists = await Promise.all(keys.map((key) => this.#list(key, this.#scope.namespace)));
    return [...new Set(lists.flat())].filter((object) => wanted.has(formatTemplateKey(templateKeyOf(object))));
  }

  /** Of a kind that the hub does not serve (any more) there are none. */
  #list({ apiVersion, kind }: Kind, namespace: string | undefined): Promise<readonly KubeObject[]> {
    const key = `${namespace ?? ''}/${apiVersion}/${kind}`;
    const known = this.#lists.get(key);
    if (known) return known;
    const list = this.#fetch({ apiVersion, kind }, namespace);
    this.#lists.set(key, list);
    return list;
  }

  async #fetch(kind: Kind, namespace: string | undefined): Promise<readonly KubeObject[]> {
    const { signal } = this.#scope;
    try {
      const type = await this.#hub.discovery.typeFor(kind);
      if (!type.namespaced && this.#scope.namespace !== undefined) return [];
      const options = type.namespaced ? { namespace, signal } : { signal };
      return (await this.#hub.resource(type).list(options)).items;
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
  }
}
