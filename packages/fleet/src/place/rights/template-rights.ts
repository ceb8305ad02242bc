import type { KubeObject, ResourceType } from '@asterism/machinery';
import type { Cluster } from '../../api/index.ts';
import type { Binding } from '../../template/binding-client.ts';
import { dependencyKeysOf } from '../../template/dependencies.ts';
import type { Policy } from '../match-policy.ts';
import { formatTemplateKey, type TemplateKey } from '../../template/template-key.ts';
import { type Grounds, groundsOf } from './grounds.ts';
import type { PlacingRights, ReadTarget, Unplaceable } from './placing-rights.ts';

/** As many as a binding lists: it must still fit its store. */
const MAX_WITHHELD = 100;

export interface TemplateRightsOptions {
  /** In the API server that holds the policies. */
  rights: PlacingRights;
  /** In the one that holds the templates. */
  typeOf: (object: KubeObject) => Promise<ResourceType>;
  known: (key: TemplateKey) => KubeObject | undefined;
  policyOf: (binding: Binding) => Policy | undefined;
}

/** What the rights of policies' authors allow for templates. */
export class TemplateRights {
  readonly #options: TemplateRightsOptions;

  constructor(options: TemplateRightsOptions) {
    this.#options = options;
  }

  /** For the decision on one template. */
  async groundsOf(
    policy: Policy,
    template: KubeObject,
    { clusters, last }: { clusters: readonly Cluster[]; last: Binding['spec'] | undefined },
    signal: AbortSignal,
  ): Promise<Grounds> {
    const { rights } = this.#options;
    const judgement = await rights.judge(policy, await this.#targetOf(template), namesOf(clusters), signal);
    const withheld: Grounds['withheld'] = [];
    for (const { apiVersion, kind, name, object } of policy.spec.propagateDeps ? this.#neededBy(template) : []) {
      if (withheld.length === MAX_WITHHELD) break;
      const message = await rights.whyUnread(policy, await this.#targetOf(object), signal);
      if (message !== undefined) withheld.push({ apiVersion, kind, name, message });
    }
    return groundsOf(judgement, last, withheld);
  }

  /** The clusters that a template must not name which only follows these bindings: where none of their policies may place. */
  async unplaceableBy(
    leaders: readonly Binding[],
    clusters: readonly Cluster[],
    signal: AbortSignal,
  ): Promise<Unplaceable | undefined> {
    let common: Unplaceable | undefined;
    for (const leader of leaders) {
      const policy = this.#options.policyOf(leader);
      if (!policy) continue;
      const found = await this.#options.rights.unplaceable(policy, namesOf(clusters), signal);
      if (!found) return undefined;
      common = common ? { ...common, clusters: common.clusters.intersection(found.clusters) } : found;
    }
    return common;
  }

  /** Those of the bindings whose policies may take the object along. */
  async entitled(leaders: readonly Binding[], object: KubeObject, signal: AbortSignal): Promise<Binding[]> {
    const entitled: Binding[] = [];
    for (const leader of leaders) {
      const policy = this.#options.policyOf(leader);
      if (!policy) continue;
      const why = await this.#options.rights.whyUnread(policy, await this.#targetOf(object), signal);
      if (why === undefined) entitled.push(leader);
    }
    return entitled;
  }

  /** What the template names, and what that names in turn, so far as it exists; each once. */
  #neededBy(template: KubeObject): (TemplateKey & { object: KubeObject })[] {
    const named = this.#existing(dependencyKeysOf(template));
    const inTurn = this.#existing(named.flatMap(({ object }) => dependencyKeysOf(object)));
    return [...new Map([...named, ...inTurn].map((each) => [formatTemplateKey(each), each])).values()];
  }

  #existing(keys: readonly TemplateKey[]): (TemplateKey & { object: KubeObject })[] {
    return keys.flatMap((key) => {
      const object = this.#options.known(key);
      return object ? [{ ...key, object }] : [];
    });
  }

  async #targetOf(object: KubeObject): Promise<ReadTarget> {
    const type = await this.#options.typeOf(object);
    return { type, namespace: object.metadata?.namespace, name: object.metadata?.name ?? '' };
  }
}

function namesOf(clusters: readonly Cluster[]): string[] {
  return clusters.map(({ metadata }) => metadata.name ?? '');
}
