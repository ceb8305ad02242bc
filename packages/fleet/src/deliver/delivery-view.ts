import type { KubeObject } from '@asterism/machinery';
import type { Cluster as EngagedCluster, Enqueue, Informer, InformerHandler, Request } from '@asterism/runtime';
import { BINDING_UID_LABEL, CLUSTERS, type Cluster, type ManifestStatus, type Work } from '../api/index.ts';
import { leaveOf } from '../join/leave/leave-state.ts';
import { type Binding, bindingRequest } from '../template/binding-client.ts';
import { type Bindings, isStray } from '../template/bindings.ts';
import { contentChanged } from '../template/content-changed.ts';
import { isDispatchingSuspended } from '../template/dispatch-suspension.ts';
import type { ManifestSource } from '../template/manifest-source.ts';
import { templateKeyOf } from '../template/template-key.ts';
import type { Templates } from '../template/templates.ts';
import { byName } from '../template/tie-break.ts';
import { BindingRenderer } from './render/binding-renderer.ts';
import { hasNodePorts } from './render/node-ports.ts';
import { PortOwners } from './render/port-owners.ts';
import { manifestOf, type Target } from './report/binding-status.ts';
import { type JudgedReport, judgeReport } from './report/judge-report.ts';
import { TemplateStatuses } from './report/template-statuses.ts';
import { Refusals } from './works/refusals.ts';
import { clusterOfWork, isUpToDate } from './works/work-object.ts';
import { Works } from './works/works.ts';

interface TemplateListener {
  changed: (binding: Binding) => void;
  /** Changes of the status alone matter too. */
  statusToo: boolean;
}

/** What the hub's caches say about a binding: its template, what each cluster should have of it, and what each has. */
export class DeliveryView {
  readonly templates: Templates;
  readonly works: Works;
  readonly renderer: BindingRenderer;
  readonly statuses: TemplateStatuses;
  readonly refusals = new Refusals((binding) => this.#tell(binding, { statusOnly: true }));
  readonly #reports = new WeakMap<ManifestStatus, JudgedReport>();
  readonly #portOwners: PortOwners;
  readonly #clusters: Informer<Cluster>;
  readonly #listeners = new Set<TemplateListener>();

  constructor(local: EngagedCluster, templates: Templates, sources?: readonly ManifestSource[]) {
    this.templates = templates;
    this.works = new Works(local);
    this.renderer = new BindingRenderer(local, { templates, sources, changed: (binding) => this.#tell(binding) });
    this.statuses = new TemplateStatuses(templates.cluster);
    this.#portOwners = new PortOwners(templates.cluster);
    this.#clusters = local.cache.informer(CLUSTERS);
    templates.kinds.addHandler(this.#templateEvents());
  }

  get bindings(): Bindings {
    return this.templates.bindings;
  }

  /** Asks for a binding whenever its template changes; for `statusToo` also when only its status does. */
  followTemplates(enqueue: Enqueue, statusToo: boolean, signal: AbortSignal): void {
    const listener: TemplateListener = { changed: (binding) => enqueue(bindingRequest(binding)), statusToo };
    this.#listeners.add(listener);
    signal.addEventListener('abort', () => this.#listeners.delete(listener), { once: true });
  }

  cluster(name: string): Cluster | undefined {
    return this.#clusters.store.get(name);
  }

  /** Whether the cluster leaves in order. Its Works then belong to the controller that sees it off. */
  isLeaving(name: string): boolean {
    const cluster = this.cluster(name);
    return cluster !== undefined && leaveOf(cluster) !== undefined;
  }

  /** Undefined if it is deleted or being deleted, if another object has its name, or if it is not in the binding's namespace. */
  async template(binding: Binding, signal: AbortSignal): Promise<KubeObject | undefined> {
    if (isStray(binding)) return undefined;
    await this.renderer.ready(binding, signal);
    const template = await this.templates.of(binding, signal);
    if (!template) return undefined;
    const latest = this.statuses.latest(template);
    if (!hasNodePorts(latest)) return latest;
    const managedFields = await this.#portOwners.of(template, signal);
    return managedFields && { ...latest, metadata: { ...latest.metadata, managedFields } };
  }

  /** What each chosen cluster should have and has, in the order of the binding. */
  async targets(binding: Binding, template: KubeObject): Promise<Target[]> {
    const render = this.renderer.rendererOf(binding, template);
    const works = new Map(this.works.ofBinding(binding.metadata.uid).map((work) => [clusterOfWork(work), work]));
    const targets: Target[] = [];
    for (const { name } of binding.spec.clusters ?? []) {
      const cluster = this.cluster(name);
      const rendered = cluster && !leaveOf(cluster) ? await render(cluster) : undefined;
      const work = works.get(name);
      const upToDate =
        work !== undefined &&
        rendered !== undefined &&
        (await this.renderer.pace.run(() => isUpToDate(work, binding, rendered)));
      targets.push({
        cluster: name,
        rendered,
        work,
        upToDate,
        refusal: this.refusals.of(binding, name),
        suspended: isDispatchingSuspended(binding.spec, name),
        report: this.#judged(work),
      });
    }
    return targets;
  }

  /** Clusters that keep their Work although the binding does not choose them any more: nothing may be changed there. */
  retained({ metadata, spec }: Binding): string[] {
    const chosen = new Set(spec.clusters?.map(({ name }) => name));
    return this.works
      .ofBinding(metadata.uid)
      .filter(({ metadata: { deletionTimestamp } }) => !deletionTimestamp)
      .map(clusterOfWork)
      .filter((cluster) => !chosen.has(cluster) && !this.isLeaving(cluster) && isDispatchingSuspended(spec, cluster))
      .toSorted(byName);
  }

  bindingOf({ metadata }: Work): Binding | undefined {
    return this.bindings.withUid(metadata.labels?.[BINDING_UID_LABEL] ?? '');
  }

  /** Whether a Work that is gone is wanted. */
  misses(work: Work): boolean {
    const { spec } = this.bindingOf(work) ?? {};
    return spec?.clusters?.some(({ name }) => name === clusterOfWork(work)) ?? false;
  }

  ofWork(work: Work): Request[] {
    const binding = this.bindingOf(work);
    return binding ? [bindingRequest(binding)] : [];
  }

  /** Bindings with a share in the cluster. */
  ofCluster({ metadata }: Cluster): Request[] {
    const placed = this.bindings.list().filter(({ spec }) => spec.clusters?.some(({ name }) => name === metadata.name));
    return placed.map(bindingRequest);
  }

  /** A report is judged once, however often it is read: a status may have megabytes. */
  #judged(work: Work | undefined): JudgedReport | undefined {
    const manifest = manifestOf({ work });
    if (!manifest) return undefined;
    const report = this.#reports.get(manifest) ?? judgeReport(manifest);
    this.#reports.set(manifest, report);
    return report;
  }

  #tell(binding: Binding, { statusOnly = false } = {}): void {
    for (const { changed, statusToo } of this.#listeners) if (statusToo || !statusOnly) changed(binding);
  }

  #templateEvents(): InformerHandler {
    const tell = (template: KubeObject, statusOnly = false): void => {
      const binding = this.bindings.ofTemplate(templateKeyOf(template));
      if (binding && binding.spec.resource.apiVersion === template.apiVersion) this.#tell(binding, { statusOnly });
    };
    return {
      onAdd: (template) => tell(template),
      onUpdate: (before, template, inferred) => {
        if (!inferred) this.#portOwners.keepOver(before, template);
        tell(template, !contentChanged(before, template));
      },
      onDelete: (template) => {
        this.statuses.forget(template);
        this.#portOwners.forget(template);
        tell(template);
      },
    };
  }
}
