import type { Client } from '@asterism/client';
import type { KubeObject } from '@asterism/machinery';
import {
  createController,
  type Enqueue,
  generationChanged,
  type Informer,
  type InformerHandler,
  type Manager,
  type ReconcileContext,
  type Request,
} from '@asterism/runtime';
import {
  CLUSTER_OVERRIDE_POLICIES,
  CLUSTER_RESOURCE_BINDINGS,
  CLUSTERS,
  type Cluster,
  type ClusterResourceBinding,
  OVERRIDE_POLICIES,
  RESOURCE_BINDINGS,
  type ResourceBinding,
} from '../api/index.ts';
import { applyStage, inApplyOrder, LAST_STAGE } from '../template/apply-stage.ts';
import { type Binding, createBinding, deleteBinding, newBinding, updateBinding } from '../template/binding-client.ts';
import { kindsServedOtherwise, roomChanged, suitabilityChanged } from './cluster-changes.ts';
import { contentChanged } from '../template/content-changed.ts';
import { DEPENDENCY_KINDS, dependencyKeysOf, leadersOf } from '../template/dependencies.ts';
import { holdKindsOfPolicies } from './hold-kinds-of-policies.ts';
import type { Kind } from '../template/kind-informers.ts';
import { KnownClusters } from './known-clusters.ts';
import { OwnPolicies } from './own-policies.ts';
import { type Policies, type Policy, selectionBy } from './match-policy.ts';
import { placeTemplate } from './place-template.ts';
import { createPolicyController } from './policy-controller.ts';
import type { PolicySource } from './policy-source.ts';
import { holdsUntilChange } from './policy-terms.ts';
import { RefusedTemplates } from './refused-templates.ts';
import { reportDecision } from './report-decision.ts';
import { isReserved } from '../template/reserved.ts';
import { type Chosen, chooseEntitled } from './rights/choose-entitled.ts';
import { TemplateRights } from './rights/template-rights.ts';
import { type RightsOptions, WatchedRights } from './rights/watch-rights.ts';
import {
  type TemplateIdentity,
  type TemplateKey,
  templateKeyOf,
  templateOfRequest,
  templateRequest,
} from '../template/template-key.ts';
import { Templates } from '../template/templates.ts';

/**
 * Adds the controller that decides: from policies, clusters and templates to one binding for each template. For the hub.
 *
 * P1  A binding is written when what it must say differs from what it says, in one write; never for a heartbeat. What a cluster says of
 *     itself every few seconds brings back only what it may change (see RefusedTemplates).
 * P2  A template that no policy selects any more, and that nothing needs, loses its binding. That nothing is there to select it
 *     is believed only of complete caches, and of a kind that nobody watches nothing is believed.
 * P3  Kinds are watched while a policy selects them or something of them is placed; those of what goes along, while a policy or a
 *     binding says that it does.
 * P4  Templates are objects of one API server. Where that is not the hub's own, a binding is kept by no owner: that its template
 *     is gone is seen by P2 alone, also when it went while nobody looked.
 * P5  An object that is served in several versions is one template. It is placed in the version by which its policy names it.
 * P6  A policy places no more than the rights of its author allow (see PlacingRights). When a right is lost, what was placed by it is
 *     removed; when it is given, it is placed.
 * P7  A binding names only clusters where the author of its policy may place. The others are counted (see hideClusters).
 */
export function addPlacement(manager: Manager, options: PlacementOptions = {}): void {
  const placement = new Placement(manager, options);
  const predicates = [generationChanged];
  /** Only whether it is there matters here: what it says is for delivery. */
  const presence = { predicates: [{ update: () => false }] };
  manager.add(createPolicyController());
  const controller = createController({
    name: 'placement',
    concurrency: 4,
    reconcile: (request, context) => placement.reconcile(request, context),
  })
    .watches<ResourceBinding>(RESOURCE_BINDINGS, (binding) => placement.affectedBy(binding), {
      predicates,
      ownWrites: 'ignore',
    })
    .watches<ClusterResourceBinding>(CLUSTER_RESOURCE_BINDINGS, (binding) => placement.affectedBy(binding), {
      predicates,
      ownWrites: 'ignore',
    })
    .watches(CLUSTERS, () => placement.everyTemplate(), { predicates: [suitabilityChanged] })
    .watches(OVERRIDE_POLICIES, (override) => placement.dependentOn(override), presence)
    .watches(CLUSTER_OVERRIDE_POLICIES, (override) => placement.dependentOn(override), presence)
    .source((enqueue, signal) => placement.followTemplates(enqueue, signal));
  for (const source of placement.policies) source.watch(controller, (policy) => placement.selectedBy(policy));
  manager.add(controller);
}

export interface PlacementOptions {
  /** Shared with delivery. Default: templates that are objects of `manager.local`. */
  templates?: Templates | undefined;
  /** Where policies come from. Default: the hub's own. */
  policies?: readonly PolicySource[] | undefined;
  /** How the rights of policies' authors are found out. Default: every policy may place everything everywhere. */
  rights?: RightsOptions | undefined;
}

class Placement {
  readonly #templates: Templates;
  readonly policies: readonly PolicySource[];
  readonly #overrides: Informer;
  readonly #clusterOverrides: Informer;
  readonly #clustersKnown = new KnownClusters();
  readonly #refused = new RefusedTemplates(this.#clustersKnown);
  readonly #serves: Policies['serves'] = (kind) => this.#templates.kinds.store(kind) !== undefined;
  /** What is asked for in order once it is known what goes before it. */
  readonly #early: TemplateKey[] = [];
  readonly #watchedRights: WatchedRights | undefined;
  readonly #rights: TemplateRights | undefined;
  #enqueue: Enqueue | undefined;

  constructor(
    { local }: Manager,
    { templates = new Templates(local), policies = [new OwnPolicies(local)], rights }: PlacementOptions,
  ) {
    this.#templates = templates;
    this.#watchedRights = rights && new WatchedRights(local, rights);
    this.#rights =
      this.#watchedRights &&
      new TemplateRights({
        rights: this.#watchedRights.rights,
        typeOf: (object) => templates.cluster.client.discovery.typeFor(object),
        known: (key) => templates.known(key),
        policyOf: (binding) => this.#policyNamedBy(binding),
      });
    templates.kinds.addHandler(this.#templateEvents());
    this.policies = policies;
    for (const source of policies) source.addHandler(holdKindsOfPolicies(templates.kinds));
    this.#overrides = local.cache.informer<KubeObject>(OVERRIDE_POLICIES);
    this.#clusterOverrides = local.cache.informer<KubeObject>(CLUSTER_OVERRIDE_POLICIES);
    local.cache
      .informer<Cluster>(CLUSTERS)
      .addHandler({ onUpdate: (before, after) => this.#clusterTold(before, after) });
  }

  /** Its template, what the template needs where it goes, and what has followed it: the template itself may be unknown by now. */
  affectedBy({ spec }: Binding): Request[] {
    const template = spec.propagateDeps || spec.requiredBy ? this.#templates.known(spec.resource) : undefined;
    const followers = this.#templates.bindings.requiredBy(spec.resource).map((binding) => binding.spec.resource);
    const needed = template ? dependencyKeysOf(template) : [];
    return [spec.resource, ...needed, ...followers].map(templateRequest);
  }

  everyTemplate(): Request[] {
    return requestsOf(this.#templates.bindings.list().map(({ spec }) => spec.resource));
  }

  /** What the policy may select, and what it has placed. */
  selectedBy({ kind, apiVersion, metadata, spec }: Policy): Request[] {
    const { namespace, name = '' } = metadata;
    const placed = this.#templates.bindings.ofPolicy({ apiVersion, kind, name, ...(namespace ? { namespace } : {}) });
    const candidates = spec.resourceSelectors.flatMap(
      (selector) => this.#templates.kinds.store(selector)?.list() ?? [],
    );
    return requestsOf([
      ...placed.map((binding) => binding.spec.resource),
      ...candidates
        .filter((template) => namespace === undefined || template.metadata?.namespace === namespace)
        .map(templateKeyOf),
    ]);
  }

  /** What is selected by the policies that depend on an override policy. */
  dependentOn({ metadata }: KubeObject): Request[] {
    const { namespace, name = '' } = metadata ?? {};
    return this.policies
      .flatMap((source): readonly Policy[] => (namespace ? source.ofNamespace(namespace) : source.clusterWide()))
      .filter(({ spec }) => spec.dependentOverrides?.includes(name))
      .flatMap((policy) => this.selectedBy(policy));
  }

  followTemplates(enqueue: Enqueue, signal: AbortSignal): void {
    this.#enqueue = enqueue;
    this.#watchedRights?.follow(() => this.#rightsChanged(), signal);
    this.#templates.followServedKinds(signal);
  }

  async reconcile(request: Request, { cluster, signal, logger }: ReconcileContext): Promise<void> {
    const key = templateOfRequest(request);
    await this.#deleteStrays(key, cluster.client, { signal, logger });
    const versions = this.#templates.kinds.versionsOf(key);
    if (versions.length === 0) return this.#refused.forget(key);
    const object = await this.#object(versions, key, signal);
    const parents = object ? await this.#parentsOf(key, object, signal) : [];
    const [binding, ...doubles] = this.#templates.bindings.allOfTemplate(key);
    for (const double of doubles.filter(({ metadata }) => !metadata.deletionTimestamp)) {
      await deleteBinding(cluster.client, double, signal);
      logger.info({ template: key, binding: double.metadata.name }, 'a second binding of one template goes');
    }
    const clusters = cluster.cache.list(CLUSTERS);
    const { policy, grounds } = (object && (await this.#choose(object, { binding, clusters, signal }))) ?? {};
    if (!object || (!policy && parents.length === 0)) {
      this.#refused.forget(key);
      if (!binding || binding.metadata.deletionTimestamp) return;
      await deleteBinding(cluster.client, binding, signal);
      return logger.info({ template: key }, object ? 'no policy places it any more' : 'the template is gone');
    }
    if (binding?.metadata.deletionTimestamp) return; // its deletion event comes back here
    const template = policy ? this.#inVersionOf(policy, object, binding) : object;
    if (!template) return; // the cache has it in another version only, for now
    const spec = placeTemplate({
      template,
      policy,
      grounds,
      unplaceable: policy ? undefined : await this.#rights?.unplaceableBy(parents, clusters, signal),
      parents,
      clusters,
      last: binding?.spec,
      known: this.#clustersKnown,
      isOverrideThere: (override) =>
        (policy?.metadata.namespace ? this.#overrides : this.#clusterOverrides).store.get(override) !== undefined,
    });
    this.#refused.note(template, spec, clusters);
    if (binding) {
      const owner = this.#templates.areLocal ? template : undefined;
      if (await updateBinding(cluster.client, binding, { spec, owner }, signal))
        reportDecision(logger, 'placed anew', key, spec);
      return;
    }
    const { namespace } = key;
    const isTaken = (name: string): boolean => this.#templates.bindings.isTaken({ namespace, name });
    const created = newBinding(template, spec, { owned: this.#templates.areLocal, isTaken });
    await createBinding(cluster.client, created, this.#templates.areLocal, signal);
    reportDecision(logger, 'placed', key, spec);
  }

  async #deleteStrays(
    key: TemplateIdentity,
    client: Client,
    { signal, logger }: Pick<ReconcileContext, 'signal' | 'logger'>,
  ): Promise<void> {
    for (const stray of this.#templates.bindings.straysOf(key)) {
      if (stray.metadata.deletionTimestamp) continue;
      const { namespace, name } = stray.metadata;
      logger.warn(
        { binding: { namespace, name }, template: key },
        'a binding names an object of another namespace: deleted',
      );
      await deleteBinding(client, stray, signal);
    }
  }

  /** A cluster's account of itself has come: it matters to templates of kinds that are served otherwise, and to what lacked room. */
  #clusterTold(before: Cluster, after: Cluster): void {
    const kinds = kindsServedOtherwise(before, after);
    const served = kinds.size === 0 ? [] : this.#templates.bindings.list().map(({ spec }) => spec.resource);
    const concerned = served.filter(({ apiVersion, kind }) => kinds.has(`${apiVersion}/${kind}`));
    const helped = roomChanged(before, after) ? this.#refused.helpedBy(after) : [];
    for (const template of [...concerned, ...helped]) this.#enqueue?.(templateRequest(template));
  }

  /** In any version. Undefined where there is none, where it is going, and where it belongs to the hub. */
  async #object(
    versions: readonly Kind[],
    { namespace, name }: TemplateIdentity,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    await Promise.all(versions.map((version) => this.#templates.kinds.synced(version, signal)));
    const objects = versions
      .map((version) => this.#templates.known({ ...version, ...(namespace ? { namespace } : {}), name }))
      .filter((object) => object !== undefined);
    return objects.some((each) => each.metadata?.deletionTimestamp || isReserved(each)) ? undefined : objects[0];
  }

  /** The template as its policy names it; where that is Lazy, as it was named until it changes. */
  #inVersionOf(policy: Policy, object: KubeObject, binding: Binding | undefined): KubeObject | undefined {
    const key = templateKeyOf(object);
    const placed = binding && this.#templates.known({ ...key, apiVersion: binding.spec.resource.apiVersion });
    if (placed && holdsUntilChange(policy, placed, binding.spec)) return placed;
    const selection = selectionBy(policy, object, this.#serves);
    return selection && this.#templates.known({ ...key, apiVersion: selection.apiVersion });
  }

  #choose(
    object: KubeObject,
    { binding, clusters, signal }: { binding: Binding | undefined; clusters: readonly Cluster[]; signal: AbortSignal },
  ): Promise<Chosen | undefined> {
    const namespace = object.metadata?.namespace;
    const namespaced = namespace ? this.policies.flatMap((source) => source.ofNamespace(namespace)) : [];
    const clusterWide = this.policies.flatMap((source) => source.clusterWide());
    return chooseEntitled(object, {
      policies: { namespaced, cluster: clusterWide, serves: this.#serves },
      holder: binding?.spec.policy,
      clusters: clusters.length,
      groundsOf: async (policy) => this.#rights?.groundsOf(policy, object, { clusters, last: binding?.spec }, signal),
    });
  }

  /** Every binding, and what its template takes along: a right may be all that keeps it from following. */
  #rightsChanged(): void {
    for (const binding of this.#templates.bindings.list())
      for (const request of this.affectedBy(binding)) this.#enqueue?.(request);
  }

  #policyNamedBy({ spec }: Binding): Policy | undefined {
    const { policy } = spec;
    return policy && this.policies.map((source) => source.get(policy)).find((found) => found !== undefined);
  }

  /** The bindings that this template must follow. */
  async #parentsOf(key: TemplateIdentity, object: KubeObject, signal: AbortSignal): Promise<Binding[]> {
    if (key.group !== '' || !DEPENDENCY_KINDS.some((kind) => kind === key.kind)) return [];
    const needing = await this.#templates.needing(key, signal);
    const bindings = needing.flatMap((parent) => this.#templates.bindings.ofTemplate(templateKeyOf(parent)) ?? []);
    const bindingOf = (template: TemplateKey): Binding | undefined => this.#templates.bindings.ofTemplate(template);
    const leaders = [...new Set(bindings.flatMap((binding) => leadersOf(binding, bindingOf)))];
    return this.#rights ? this.#rights.entitled(leaders, object, signal) : leaders;
  }

  /** At once, unless something may come yet that goes first: a policy may be the first to name its kind. */
  #ask(template: TemplateKey): void {
    const isEarly = this.#unlistedBefore(template).length > 0;
    if (!isEarly) return this.#enqueue?.(templateRequest(template));
    this.#early.push(template);
    if (this.#early.length === 1) void this.#askInOrder();
  }

  async #askInOrder(): Promise<void> {
    for (let kinds = this.#unlistedBefore(); kinds.length > 0; kinds = this.#unlistedBefore())
      await Promise.all(kinds.map((kind) => this.#templates.kinds.listed(kind, this.#templates.cluster.signal)));
    for (const request of requestsOf(this.#early.splice(0))) this.#enqueue?.(request);
  }

  /** Kinds that go before a template, or before anything, and of which it is not known yet what there is. */
  #unlistedBefore(template?: TemplateKey): Kind[] {
    const stage = template ? applyStage(template) : LAST_STAGE;
    return this.#templates.kinds.unlisted().filter((kind) => applyStage(kind) < stage);
  }

  #templateEvents(): InformerHandler {
    const ask = (...templates: KubeObject[]): void => {
      for (const template of templates) {
        this.#ask(templateKeyOf(template));
        const needed = dependencyKeysOf(template).filter((dependency) => this.#templates.kinds.has(dependency));
        for (const dependency of needed) this.#ask(dependency);
      }
    };
    return {
      onAdd: (template) => ask(template),
      onUpdate: (before, after) => (contentChanged(before, after) ? ask(before, after) : undefined),
      onDelete: (template) => ask(template),
    };
  }
}

/** Prerequisites come first, so that their Works do. */
function requestsOf(templates: readonly TemplateKey[]): Request[] {
  return inApplyOrder(templates, applyStage).map(templateRequest);
}
