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
const BY_STRAY = 'stray';

/** An index of the bindings that name a template of their own namespace. */
const own =
  (keys: (binding: Binding) => string[]) =>
  (object: KubeObject): string[] =>
    isStray(object as Binding) ? [] : keys(object as Binding);

const INDEXES = {
  [BY_TEMPLATE]: own(({ spec }) => [formatTemplateKey(spec.resource)]),
  [BY_POLICY]: own(({ spec }) => (spec.policy ? [policyKey(spec.policy)] : [])),
  [BY_UID]: own(({ metadata }) => (metadata.uid ? [metadata.uid] : [])),
  [BY_PARENT]: own(({ spec }) => (spec.requiredBy ?? []).map(formatTemplateKey)),
  [BY_STRAY]: (object: KubeObject): string[] => {
    const binding = object as Binding;
    return isStray(binding) ? [formatTemplateKey(binding.spec.resource)] : [];
  },
};

/** Whether a binding names a template of another namespace. The hub makes none; somebody who could write bindings may have. */
export function isStray({ metadata, spec }: Binding): boolean {
  return (metadata.namespace ?? '') !== (spec.resource.namespace ?? '');
}

/**
 * All bindings of the hub, of both scopes, as its cache has them.
 *
 * B1  A stray binding decides nothing: nobody sees it here, but for its deletion and for who deletes it.
 */
export class Bindings {
  readonly #informers: readonly Informer[];

  constructor(local: Cluster) {
    this.#informers = [RESOURCE_BINDINGS, CLUSTER_RESOURCE_BINDINGS].map((type) => {
      const informer = local.cache.informer<KubeObject>(type);
      for (const [name, index] of Object.entries(INDEXES)) informer.addIndex(name, index);
      return informer;
    });
  }

  addHandler(handler: InformerHandler): void {
    for (const informer of this.#informers) informer.addHandler(handler);
  }

  get(ref: { namespace?: string | undefined; name: string }): Binding | undefined {
    const binding = this.#at(ref);
    return binding && isStray(binding) && !binding.metadata.deletionTimestamp ? undefined : binding;
  }

  /** Whether there is a binding of that name, stray or not. */
  isTaken(ref: { namespace?: string | undefined; name: string }): boolean {
    return this.#at(ref) !== undefined;
  }

  #at({ namespace, name }: { namespace?: string | undefined; name: string }): Binding | undefined {
    const [namespaced, clusterScoped] = this.#informers;
    return (namespace ? namespaced?.store.get(`${namespace}/${name}`) : clusterScoped?.store.get(name)) as
      | Binding
      | undefined;
  }

  list(): Binding[] {
    const all = this.#informers.flatMap(({ store }) => store.list()) as Binding[];
    return all.some(isStray) ? all.filter((binding) => !isStray(binding)) : all;
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

  /** Stray bindings that name this template. */
  straysOf(template: TemplateKey | TemplateIdentity): Binding[] {
    return this.#byIndex(BY_STRAY, formatTemplateKey(template));
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
