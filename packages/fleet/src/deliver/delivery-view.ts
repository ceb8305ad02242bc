import {
  deepEqual,
  ifFound,
  isInvalid,
  isStatusError,
  type KubeObject,
  type ManagedFieldsEntry,
  SERVICES,
  type StatusError,
} from '@asterism/machinery';
import type { Cluster as EngagedCluster, Enqueue, Informer, InformerHandler, Request } from '@asterism/runtime';
import {
  BINDING_UID_LABEL,
  CLUSTER_OVERRIDE_POLICIES,
  clusterNamespace,
  CLUSTERS,
  type Cluster,
  type ClusterOverridePolicy,
  type ManifestStatus,
  OVERRIDE_POLICIES,
  type OverridePolicy,
  type Work,
} from '../api/index.ts';
import { leaveOf } from '../join/leave/leave-state.ts';
import type { Binding } from '../template/binding-client.ts';
import { workName } from '../template/binding-name.ts';
import { Bindings, isStray } from '../template/bindings.ts';
import { contentChanged } from '../template/content-changed.ts';
import { DEPENDENCY_KINDS, dependencyKeysOf } from '../template/dependencies.ts';
import { isDispatchingSuspended } from '../template/dispatch-suspension.ts';
import { KindInformers } from '../template/kind-informers.ts';
import { isReserved } from '../template/reserved.ts';
import { followServedKinds } from '../template/served-kinds.ts';
import { type TemplateKey, templateKeyOf } from '../template/template-key.ts';
import { byName } from '../template/tie-break.ts';
import type { AnyOverridePolicy } from './override/apply-overrides.ts';
import { OverrideTexts } from './override/override-texts.ts';
import { TextThread } from './override/text-thread.ts';
import { LoopTurns } from './pace/loop-turns.ts';
import type { MemberReport } from './interpret/aggregation.ts';
import { hasNodePorts } from './render/node-ports.ts';
import { createRenderer, isPlacedForCluster } from './render/render-manifest.ts';
import { TemplateNamespaces } from './render/template-namespaces.ts';
import { manifestOf, sameStatus, type Target } from './report/binding-status.ts';
import { type JudgedReport, judgeReport } from './report/judge-report.ts';
import { OwnWrites } from './report/own-writes.ts';
import { patchStatus } from './report/patch-status.ts';
import { clusterOfWork, isUpToDate } from './works/work-object.ts';
import { Works } from './works/works.ts';

interface TemplateListener {
  changed: (binding: Binding) => void;
  /** Changes of the status alone matter too. */
  statusToo: boolean;
}

/** What delivery knows of the hub: bindings, clusters, overrides and Works; and of the templates, wherever they are. */
export class DeliveryView {
  readonly bindings: Bindings;
  readonly works: Works;
  readonly #templateCluster: EngagedCluster;
  readonly #templates: KindInformers;
  /** Statuses on their way: templates may stand in another API server than the requests', so the runtime does not wait for them. */
  readonly #reported = new OwnWrites<KubeObject>(({ metadata }) => metadata?.uid ?? '');
  /** By template, the status that it was given last, and what its API server made of it: an older one knows not all of it. */
  readonly #given = new Map<string, { status: object; kept: unknown }>();
  readonly #reports = new WeakMap<ManifestStatus, JudgedReport>();
  /** Statuses that a cluster reported and the template's API server refuses. */
  readonly #distrusted = new WeakSet<object>();
  /** By Service, who owns what of its ports, as of a version in the cache. */
  readonly #portOwners = new Map<string, { resourceVersion: string; managedFields: ManagedFieldsEntry[] }>();
  readonly #namespaces: TemplateNamespaces;
  readonly #clusters: Informer<Cluster>;
  readonly #overrides: Informer<OverridePolicy>;
  readonly #clusterOverrides: Informer<ClusterOverridePolicy>;
  /** Between the steps of what takes long on a large template. */
  readonly pace = new LoopTurns();
  readonly #textThread = new TextThread();
  readonly #overrideTexts = new OverrideTexts(this.#textThread);
  readonly #listeners = new Set<TemplateListener>();
  /** By binding and cluster, why the hub itself did not take the Work. */
  readonly #refusals = new Map<string, string>();

  constructor(local: EngagedCluster, templates: EngagedCluster) {
    this.#templateCluster = templates;
    this.#templates = new KindInformers({ cluster: templates, handler: this.#templateEvents() });
    this.bindings = new Bindings(local);
    this.bindings.addHandler(this.#kindsOfBindings());
    this.works = new Works(local);
    this.#namespaces = new TemplateNamespaces(templates, (name) => this.#namespaceChanged(name));
    this.#clusters = local.cache.informer(CLUSTERS);
    this.#overrides = local.cache.informer(OVERRIDE_POLICIES);
    this.#clusterOverrides = local.cache.informer(CLUSTER_OVERRIDE_POLICIES);
  }

  /** Asks for a binding whenever its template changes; for `statusToo` also when only its status does. */
  followTemplates(enqueue: Enqueue, statusToo: boolean, signal: AbortSignal): void {
    const listener: TemplateListener = { changed: (binding) => enqueue(bindingRequest(binding)), statusToo };
    this.#listeners.add(listener);
    signal.addEventListener('abort', () => this.#listeners.delete(listener), { once: true });
  }

  /** Ends the thread for large texts with the signal. */
  stopTextsWith(signal: AbortSignal): void {
    signal.addEventListener('abort', () => void this.#textThread.stop(), { once: true });
  }

  followServedKinds(signal: AbortSignal): void {
    followServedKinds(this.#templateCluster, this.#templates, signal);
  }

  /** Notes why a Work could not be written, or that it could, and lets the status tell. */
  refused(binding: Binding, clusterName: string, message: string | undefined): void {
    const key = refusalKey(binding, clusterName);
    if (this.#refusals.get(key) === message) return;
    if (message === undefined) this.#refusals.delete(key);
    else this.#refusals.set(key, message);
    for (const { changed, statusToo } of this.#listeners) if (statusToo) changed(binding);
  }

  cluster(name: string): Cluster | undefined {
    return this.#clusters.store.get(name);
  }

  /** Whether the cluster leaves in order: its Works are then for the one who sees it off. */
  isLeaving(name: string): boolean {
    const cluster = this.cluster(name);
    return cluster !== undefined && leaveOf(cluster) !== undefined;
  }

  /** Whether a Work that is gone is wanted. */
  misses(work: Work): boolean {
    const { spec } = this.#bindingOf(work) ?? {};
    return spec?.clusters?.some(({ name }) => name === clusterOfWork(work)) ?? false;
  }

  /** Undefined if it is deleted or being deleted, if another object has its name, or if it is not in the binding's namespace. */
  async template(binding: Binding, signal: AbortSignal): Promise<KubeObject | undefined> {
    if (isStray(binding)) return undefined;
    await this.#namespaces.ready(binding.spec.resource, signal);
    const { spec } = binding;
    const { namespace, name, uid } = spec.resource;
    const store = await this.#templates.synced(spec.resource, signal);
    const template = store?.get(namespace ? `${namespace}/${name}` : name);
    if (!template || template.metadata?.uid !== uid || template.metadata?.deletionTimestamp) return undefined;
    const latest = this.#reported.latest(template);
    if (!hasNodePorts(latest)) return latest;
    const managedFields = await this.#portOwnersOf(template, signal);
    return managedFields && { ...latest, metadata: { ...latest.metadata, managedFields } };
  }

  /**
   * The `managedFields` of a Service, which the cache does not keep: asked for once for each change of more than its status. Who names
   * a port that it has already changes nothing else. Undefined where the Service is gone.
   */
  async #portOwnersOf({ metadata = {} }: KubeObject, signal: AbortSignal): Promise<ManagedFieldsEntry[] | undefined> {
    const { uid = '', namespace, name = '', resourceVersion = '' } = metadata;
    const known = this.#portOwners.get(uid);
    if (known?.resourceVersion === resourceVersion) return known.managedFields;
    const services = this.#templateCluster.client.resource(SERVICES);
    const live = await ifFound(services.get({ namespace, name }, { signal }));
    if (live?.metadata?.uid !== uid) return undefined;
    const { managedFields = [] } = live.metadata;
    this.#portOwners.set(uid, { resourceVersion, managedFields });
    return managedFields;
  }

  /** That the status of a Service is told, as it is from here, changes nothing of who owns its ports. */
  #keepPortOwners({ metadata, ...before }: KubeObject, after: KubeObject): void {
    const known = this.#portOwners.get(metadata?.uid ?? '');
    if (!known || known.resourceVersion !== metadata?.resourceVersion || sameStatus(before['status'], after['status']))
      return;
    const { resourceVersion = '' } = after.metadata ?? {};
    const same = { ...before, metadata: { ...metadata, resourceVersion }, status: after['status'] };
    if (deepEqual(same, after)) known.resourceVersion = resourceVersion;
  }

  /** Whether the template's status is what its API server makes of this one. */
  says(template: KubeObject, status: object): boolean {
    if (sameStatus(template['status'], status)) return true;
    const given = this.#given.get(template.metadata?.uid ?? '');
    return given !== undefined && sameStatus(given.status, status) && sameStatus(given.kept, template['status']);
  }

  /**
   * Writes the status of a template. That it is gone, or that its kind has no status of its own, is no error. A status that its API
   * server finds invalid, as where its definition requires what clusters do not agree on, is not offered again.
   *
   * @returns why the status was not taken
   */
  async reportTo(template: KubeObject, status: object, signal: AbortSignal): Promise<string | undefined> {
    const { client } = this.#templateCluster;
    const uid = template.metadata?.uid ?? '';
    const type = await client.discovery.typeFor(template);
    try {
      const written = await patchStatus(client, type, template, status, { signal });
      if (written) this.#reported.remember(written);
      this.#given.set(uid, { status, kept: (written ?? template)['status'] });
    } catch (error) {
      if (!isRefusedStatus(error)) throw error;
      this.#given.set(uid, { status, kept: template['status'] });
      return error.message;
    }
  }

  /** A report is judged once, however often it is looked at: a status may have megabytes. */
  #judged(work: Work | undefined): JudgedReport | undefined {
    const manifest = manifestOf({ work });
    if (!manifest) return undefined;
    const report = this.#reports.get(manifest) ?? judgeReport(manifest);
    this.#reports.set(manifest, report);
    return report;
  }

  /** Whether the template's API server would take this status. */
  async wouldTake(template: KubeObject, status: object, signal: AbortSignal): Promise<boolean> {
    const { client } = this.#templateCluster;
    const type = await client.discovery.typeFor(template);
    try {
      await patchStatus(client, type, template, status, { signal, dryRun: true });
      return true;
    } catch (error) {
      if (!isRefusedStatus(error)) throw error;
      return false;
    }
  }

  /** Leaves the status of this report out from now on: the template's API server refuses it. */
  distrust({ status }: MemberReport): void {
    if (status) this.#distrusted.add(status);
  }

  /** The report, without a status that is distrusted. */
  trusted(report: MemberReport): MemberReport {
    const isDistrusted = report.status !== undefined && this.#distrusted.has(report.status);
    return isDistrusted ? { ...report, status: undefined, current: false } : report;
  }

  /** What each chosen cluster should have and has, in the order of the binding. */
  async targets(binding: Binding, template: KubeObject): Promise<Target[]> {
    const render = createRenderer(template, binding, this.#overridesFor(binding), {
      texts: this.#overrideTexts,
      pace: this.pace,
      placedForCluster: this.#isPlacedForCluster(binding),
    });
    const works = new Map(this.works.ofBinding(binding.metadata.uid).map((work) => [clusterOfWork(work), work]));
    const namespaceLabels = this.#namespaces.labelsOf(binding.spec.resource);
    const targets: Target[] = [];
    for (const { name } of binding.spec.clusters ?? []) {
      const cluster = this.cluster(name);
      const rendered = cluster && !leaveOf(cluster) ? { ...(await render(cluster)), namespaceLabels } : undefined;
      const work = works.get(name);
      const upToDate =
        work !== undefined &&
        rendered !== undefined &&
        (await this.pace.run(() => isUpToDate(work, binding, rendered)));
      targets.push({
        cluster: name,
        rendered,
        work,
        upToDate,
        refusal: this.#refusals.get(refusalKey(binding, name)),
        suspended: isDispatchingSuspended(binding.spec, name),
        report: this.#judged(work),
      });
    }
    return targets;
  }

  /** Clusters whose Work stays though the binding does not choose them any more: nothing may be changed there. */
  retained({ metadata, spec }: Binding): string[] {
    const chosen = new Set(spec.clusters?.map(({ name }) => name));
    return this.works
      .ofBinding(metadata.uid)
      .filter(({ metadata: { deletionTimestamp } }) => !deletionTimestamp)
      .map(clusterOfWork)
      .filter((cluster) => !chosen.has(cluster) && !this.isLeaving(cluster) && isDispatchingSuspended(spec, cluster))
      .toSorted(byName);
  }

  /** What goes along with a template: what it needs, and what that needs in turn. Resolves when it is known what there is of it. */
  async followersOf(template: KubeObject, signal: AbortSignal): Promise<TemplateKey[]> {
    const needed = dependencyKeysOf(template);
    await Promise.all(needed.map((key) => this.#templates.listed(key, signal)));
    const inTurn = needed.flatMap((key) => dependencyKeysOf(this.#known(key) ?? {}));
    await Promise.all(inTurn.map((key) => this.#templates.listed(key, signal)));
    return [...needed, ...inTurn];
  }

  /** Whether a template that another one needs is there, and has no Work in the cluster. */
  lacks(key: TemplateKey, clusterName: string): boolean {
    const template = this.#known(key);
    if (!template || template.metadata?.deletionTimestamp || isReserved(template)) return false;
    const { name = '', namespace } = this.bindings.ofTemplate(key)?.metadata ?? {};
    const work = this.works.get({ namespace: clusterNamespace(clusterName), name: workName({ name, namespace }) });
    return work === undefined || work.metadata.deletionTimestamp !== undefined;
  }

  #known({ namespace, name, ...kind }: TemplateKey): KubeObject | undefined {
    return this.#templates.store(kind)?.get(namespace ? `${namespace}/${name}` : name);
  }

  /** The bindings of templates that need what the Work brings. */
  parentsOf(work: Work): Binding[] {
    const { requiredBy = [] } = this.#bindingOf(work)?.spec ?? {};
    return requiredBy.flatMap((parent) => this.bindings.ofTemplate(parent) ?? []);
  }

  ofWork(work: Work): Request[] {
    const binding = this.#bindingOf(work);
    return binding ? [bindingRequest(binding)] : [];
  }

  #bindingOf({ metadata }: Work): Binding | undefined {
    return this.bindings.withUid(metadata.labels?.[BINDING_UID_LABEL] ?? '');
  }

  /** Bindings with a share in the cluster. */
  ofCluster({ metadata }: Cluster): Request[] {
    const placed = this.bindings.list().filter(({ spec }) => spec.clusters?.some(({ name }) => name === metadata.name));
    return placed.map(bindingRequest);
  }

  /** Bindings of templates that the policy may change. */
  ofOverride({ metadata, spec }: AnyOverridePolicy): Request[] {
    const kinds = spec.resourceSelectors?.map(({ apiVersion, kind }) => `${apiVersion}/${kind}`) ?? [];
    return this.bindings
      .list()
      .filter(({ spec: { resource } }) => {
        const inReach = metadata.namespace === undefined || metadata.namespace === resource.namespace;
        return inReach && (kinds.length === 0 || kinds.includes(`${resource.apiVersion}/${resource.kind}`));
      })
      .map(bindingRequest);
  }

  #overridesFor({ metadata: { namespace } }: Binding): AnyOverridePolicy[] {
    const own = namespace
      ? this.#overrides.store.list().filter(({ metadata }) => metadata.namespace === namespace)
      : [];
    return [...this.#clusterOverrides.store.list(), ...own].toSorted((a, b) =>
      byName(a.metadata.name ?? '', b.metadata.name ?? ''),
    );
  }

  #namespaceChanged(name: string): void {
    for (const binding of this.bindings.list()) {
      if (binding.metadata.namespace === name) for (const { changed } of this.#listeners) changed(binding);
    }
  }

  /** An object that follows others is changed by no more than they are, whatever places it besides. */
  #isPlacedForCluster({ spec }: Binding): boolean {
    if (isPlacedForCluster(spec)) return true;
    const parents = (spec.requiredBy ?? []).map((parent) => this.bindings.ofTemplate(parent)?.spec);
    return parents.some((parent) => parent !== undefined && isPlacedForCluster(parent));
  }

  #templateEvents(): InformerHandler {
    const tell = (template: KubeObject, statusOnly = false): void => {
      const binding = this.bindings.ofTemplate(templateKeyOf(template));
      if (!binding || binding.spec.resource.apiVersion !== template.apiVersion) return;
      for (const { changed, statusToo } of this.#listeners) if (statusToo || !statusOnly) changed(binding);
    };
    return {
      onAdd: (template) => tell(template),
      onUpdate: (before, template, inferred) => {
        if (!inferred) this.#keepPortOwners(before, template);
        tell(template, !contentChanged(before, template));
      },
      onDelete: (template) => {
        this.#reported.forget(template.metadata?.uid ?? '');
        this.#given.delete(template.metadata?.uid ?? '');
        this.#portOwners.delete(template.metadata?.uid ?? '');
        tell(template);
      },
    };
  }

  #kindsOfBindings(): InformerHandler {
    const hold = (object: KubeObject): void => {
      const binding = object as Binding;
      const { resource, propagateDeps } = binding.spec;
      // Placement watches what it takes along: these are the same watches.
      const dependencies = propagateDeps ? DEPENDENCY_KINDS.map((kind) => ({ apiVersion: 'v1', kind })) : [];
      this.#templates.hold(holderOf(binding), [resource, ...dependencies]);
    };
    return {
      onAdd: hold,
      onUpdate: (_, binding) => hold(binding),
      onDelete: (binding) => this.#templates.hold(holderOf(binding as Binding), []),
    };
  }
}

/** It is not valid, or cannot be read as a status of the kind. */
function isRefusedStatus(error: unknown): error is StatusError {
  return isInvalid(error) || (isStatusError(error) && error.code === 400);
}

export function bindingRequest({ metadata }: Binding): Request {
  return { cluster: '', namespace: metadata.namespace, name: metadata.name ?? '' };
}

function refusalKey({ metadata }: Binding, clusterName: string): string {
  return `${metadata.uid}/${clusterName}`;
}

function holderOf({ metadata }: Binding): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}
