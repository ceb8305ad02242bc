import type { KubeObject } from '@asterism/machinery';
import type { Cluster, Informer, InformerHandler } from '@asterism/runtime';
import { CLUSTER_RESOURCE_BINDINGS, type ObjectReference, RESOURCE_BINDINGS } from '../api/index.ts';
import type { Binding } from './binding-client.ts';
import { formatTemplateKey, type TemplateIdentity, type TemplateKey } from './template-key.ts';
import { byName } from './tie-break.ts';

const BY_TEMPLATE = 'template';
const BY_POLICY = 'policy';
const BY_UID = 'uid';
const BY_PARENT = 'parent';

const templateIndex = (object: KubeObject): string[] => [formatTemplateKey((object as Binding).spec.resource)];
const uidIndex = ({ metadata }: KubeObject): string[] => (metadata?.uid ? [metadata.uid] : []);
const policyIndex = (object: KubeObject): string[] => {
  const { policy } = (object as Binding).spec;
  return policy ? [policyKey(policy)] : [];
};
const parentIndex = (object: KubeObject): string[] =>
  ((object as Binding).spec.requiredBy ?? []).map(formatTemplateKey);

/** All bindings of the hub, of both scopes, as its cache has them. */
export class Bindings {
  readonly #informers: readonly Informer[];

  constructor(local: Cluster) {
    this.#informers = [RESOURCE_BINDINGS, CLUSTER_RESOURCE_BINDINGS].map((type) => {
      const informer = local.cache.informer<KubeObject>(type);
      informer.addIndex(BY_TEMPLATE, templateIndex);
      informer.addIndex(BY_POLICY, policyIndex);
      informer.addIndex(BY_UID, uidIndex);
      informer.addIndex(BY_PARENT, parentIndex);
      return informer;
    });
  }

  addHandler(handler: InformerHandler): void {
    for (const informer of this.#informers) informer.addHandler(handler);
  }

  get({ namespace, name }: { namespace?: string | undefined; name: string }): Binding | undefined {
    const [namespaced, clusterScoped] = this.#informers;
    return (namespace ? namespaced?.store.get(`${namespace}/${name}`) : clusterScoped?.store.get(name)) as
      | Binding
      | undefined;
  }

  list(): Binding[] {
    return this.#informers.flatMap(({ store }) => store.list()) as Binding[];
  }

  ofTemplate(template: TemplateKey | TemplateIdentity): Binding | undefined {
    return this.allOfTemplate(template)[0];
  }

  /**
   * A template has one binding. Where releases that made one for each version of it have left more, the first is the one to keep:
   * by which more stands in the members, then the older.
   */
  allOfTemplate(template: TemplateKey | TemplateIdentity): Binding[] {
    const bindings = this.#byIndex(BY_TEMPLATE, formatTemplateKey(template));
    return bindings.length > 1 ? bindings.toSorted(byStanding) : bindings;
  }

  ofPolicy(policy: ObjectReference): Binding[] {
    return this.#byIndex(BY_POLICY, policyKey(policy));
  }

  /** Those that say that this template needs theirs. */
  requiredBy(template: TemplateKey): Binding[] {
    return this.#byIndex(BY_PARENT, formatTemplateKey(template));
  }

  withUid(uid: string): Binding | undefined {
    return this.#byIndex(BY_UID, uid)[0];
  }

  #byIndex(index: string, value: string): Binding[] {
    return this.#informers.flatMap(({ store }) => store.byIndex(index, value)) as Binding[];
  }
}

function byStanding(a: Binding, b: Binding): number {
  const goes = ({ metadata }: Binding): number => (metadata.deletionTimestamp ? 1 : 0);
  const applied = ({ status }: Binding): number =>
    (status?.aggregatedStatus ?? []).filter((each) => each.applied).length;
  const since = ({ metadata }: Binding): string => metadata.creationTimestamp ?? '';
  return (
    goes(a) - goes(b) ||
    applied(b) - applied(a) ||
    byName(since(a), since(b)) ||
    byName(a.metadata.name ?? '', b.metadata.name ?? '')
  );
}

function policyKey({ kind, namespace = '', name }: ObjectReference): string {
  return `${kind}/${namespace}/${name}`;
}
