import type { KubeObject } from '@asterism/machinery';
import type { Cluster as ApiServer } from '@asterism/runtime';
import type { Cluster } from '../../api/index.ts';
import type { Binding } from '../../template/binding-client.ts';
import { dependencyKeysOf } from '../../template/dependencies.ts';
import type { Policy } from '../match-policy.ts';
import { formatTemplateKey, type TemplateKey } from '../../template/template-key.ts';
import { type Grounds, groundsOf } from './grounds.ts';
import type { ReadTarget } from './placing-rights.ts';
import { type RightsOptions, WatchedRights } from './watch-rights.ts';

/** As many as a binding lists: it must still fit its store. */
const MAX_WITHHELD = 100;

export interface TemplateRightsOptions extends RightsOptions {
  /** The API server that holds the policies, and whose rights count. */
  local: ApiServer;
  /** The one that holds the templates. */
  templates: ApiServer;
  known: (key: TemplateKey) => KubeObject | undefined;
  policyOf: (binding: Binding) => Policy | undefined;
}

/** What the rights of policies' authors allow for templates. */
export class TemplateRights {
  readonly #options: TemplateRightsOptions;
  readonly #watched: WatchedRights;

  constructor(options: TemplateRightsOptions) {
    this.#options = options;
    this.#watched = new WatchedRights(options.local, options);
  }

  follow(changed: () => void, signal: AbortSignal): void {
    this.#watched.follow(changed, signal);
  }

  /** For the decision on one template. */
  async groundsOf(
    policy: Policy,
    template: KubeObject,
    { clusters, last }: { clusters: readonly Cluster[]; last: Binding['spec'] | undefined },
    signal: AbortSignal,
  ): Promise<Grounds> {
    const { rights } = this.#watched;
    const names = clusters.map(({ metadata }) => metadata.name ?? '');
    const judgement = await rights.judge(policy, await this.#targetOf(template), names, signal);
    const withheld: Grounds['withheld'] = [];
    for (const { apiVersion, kind, name, object } of policy.spec.propagateDeps ? this.#neededBy(template) : []) {
      if (withheld.length === MAX_WITHHELD) break;
      const message = await rights.whyUnread(policy, await this.#targetOf(object), signal);
      if (message !== undefined) withheld.push({ apiVersion, kind, name, message });
    }
    return groundsOf(judgement, last, withheld);
  }

  /** Those of the bindings whose policies may take the object along. */
  async entitled(leaders: readonly Binding[], object: KubeObject, signal: AbortSignal): Promise<Binding[]> {
    const entitled: Binding[] = [];
    for (const leader of leaders) {
      const policy = this.#options.policyOf(leader);
      if (!policy) continue;
      const why = await this.#watched.rights.whyUnread(policy, await this.#targetOf(object), signal);
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
    const type = await this.#options.templates.client.discovery.typeFor(object);
    return { type, namespace: object.metadata?.namespace, name: object.metadata?.name ?? '' };
  }
}
