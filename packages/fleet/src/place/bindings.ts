import type { KubeObject } from '@asterism/machinery';
import type { Cluster, Informer, InformerHandler } from '@asterism/runtime';
import { CLUSTER_RESOURCE_BINDINGS, type ObjectReference, RESOURCE_BINDINGS } from '../api/index.ts';
import type { Binding } from './binding-client.ts';
import { formatTemplateKey, type TemplateKey } from './template-key.ts';

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

  ofTemplate(template: TemplateKey): Binding | undefined {
    return this.#byIndex(BY_TEMPLATE, formatTemplateKey(template))[0];
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

function policyKey({ kind, namespace = '', name }: ObjectReference): string {
  return `${kind}/${namespace}/${name}`;
}
