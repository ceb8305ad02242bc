import type { Cluster } from '../api/index.ts';
import { Remembered } from './remembered.ts';

type Apis = NonNullable<NonNullable<Cluster['status']>['apis']>;

interface Kind {
  apiVersion: string;
  kind: string;
}

const KINDS_REMEMBERED = 256;

/** Which kinds clusters serve by their own accounts; each account is searched once for a kind. */
export class ServedKinds {
  readonly #known = new Remembered<Apis, boolean>(KINDS_REMEMBERED);

  /** Whether a cluster's account of what it serves has that kind. A cluster that gave no account yet serves nothing. */
  of(kind: Kind): (cluster: Cluster) => boolean {
    const isListed = this.#known.to(`${kind.apiVersion}/${kind.kind}`, (apis) => lists(apis, kind));
    return ({ status }) => (status?.apis ? isListed(status.apis) : false);
  }
}

function lists(apis: Apis, { apiVersion, kind }: Kind): boolean {
  const served = apis.find(({ groupVersion }) => groupVersion === apiVersion);
  return served?.resources.some((resource) => resource.kind === kind) ?? false;
}
