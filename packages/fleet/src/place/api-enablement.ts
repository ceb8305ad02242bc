import type { Cluster } from '../api/index.ts';

type Apis = NonNullable<NonNullable<Cluster['status']>['apis']>;

interface Kind {
  apiVersion: string;
  kind: string;
}

/**
 * Which kinds clusters serve by their own accounts. What was looked up is kept for as long as an account is the same object, as
 * it is in a cache.
 */
export class ServedKinds {
  readonly #known = new WeakMap<Apis, Map<string, boolean>>();

  /** Whether a cluster's account of what it serves has that kind. A cluster that gave no account yet serves nothing. */
  of(kind: Kind): (cluster: Cluster) => boolean {
    const key = `${kind.apiVersion}/${kind.kind}`;
    return ({ status }) => {
      const apis = status?.apis;
      if (!apis) return false;
      let known = this.#known.get(apis);
      if (!known) this.#known.set(apis, (known = new Map()));
      let serves = known.get(key);
      if (serves === undefined) known.set(key, (serves = lists(apis, kind)));
      return serves;
    };
  }
}

function lists(apis: Apis, { apiVersion, kind }: Kind): boolean {
  const served = apis.find(({ groupVersion }) => groupVersion === apiVersion);
  return served?.resources.some((resource) => resource.kind === kind) ?? false;
}
