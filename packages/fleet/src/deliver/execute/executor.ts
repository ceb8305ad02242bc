import { type KubeObject } from '@asterism/machinery';
import {
  type Cluster,
  type Enqueue,
  LOCAL_CLUSTER,
  type Manager,
  type ReconcileContext,
  removeFinalizer,
  type Request,
  type Result,
} from '@asterism/runtime';
import { clusterNamespace, MANAGED_LABEL, type ManifestStatus, WORKS, type Work } from '../../api/index.ts';
import { applyStage, inApplyOrder } from '../../template/apply-stage.ts';
import { establishedKind, isToBeEstablished } from '../member/established-kind.ts';
import { labelOf, worksOfKind } from '../member/other-works.ts';
import { notApplied } from '../report/manifest-status.ts';
import { statusOf } from '../report/told-status.ts';
import { isRemoved } from '../report/work-status.ts';
import { stageOfWork } from '../works/apply-order.ts';
import { DueWorks } from '../works/due-works.ts';
import { type ManifestRef, manifestRefOf, sameManifest } from '../works/manifest-ref.ts';
import { DISPATCHING_SUSPENDED } from '../works/suspended.ts';
import { clusterOfWork, EXECUTOR_FINALIZER } from '../works/work-object.ts';
import type { Works } from '../works/works.ts';
import { ManagedObjects } from './managed-objects.ts';
import { ManifestWriter, type Member } from './manifest-writer.ts';
import { removeObjects } from './remove-objects.ts';
import { type Told, WorkTeller, type WorkTellerSettings } from './work-teller.ts';

/** Between two comparisons of objects of which no change is seen, ms. */
const UNSEEN_MS = 60_000;

export interface ExecutorSettings extends WorkTellerSettings {
  works: Works;
  /** Whether it removes its finalizer from a Work of which nothing is left. An agent may not: it says so in the status. */
  releases: boolean;
  /** Whether this executor writes to the cluster. */
  accepts: (clusterName: string) => boolean;
}

/**
 * Makes members say what their Works say: the same code in the hub (Push) and in an agent (Pull).
 *
 * Its parts: {@link ManifestWriter} writes objects, {@link removeObjects} removes them, {@link DueWorks} says whose turn it is,
 * {@link WorkTeller} tells the hub.
 */
export class Executor {
  readonly #manager: Manager;
  readonly #settings: ExecutorSettings;
  /** By cluster, for as long as the cluster is engaged. */
  readonly #objects = new Map<string, ManagedObjects>();
  readonly #writer: ManifestWriter;
  readonly #teller: WorkTeller;
  readonly #due: DueWorks;
  #enqueue: Enqueue | undefined;

  constructor(manager: Manager, settings: ExecutorSettings) {
    this.#manager = manager;
    this.#settings = settings;
    this.#writer = new ManifestWriter(settings.works);
    this.#teller = new WorkTeller(manager, settings);
    this.#due = new DueWorks(settings.clock, (work) => this.#enqueue?.(requestOf(work, clusterOfWork(work))));
  }

  /**
   * Takes up a cluster's Works when the cluster is engaged, and when it answers again; each of them when one of its objects changes;
   * and those whose status the hub could not be told when it answers again.
   */
  follow(enqueue: Enqueue, signal: AbortSignal): void {
    this.#enqueue = enqueue;
    this.#due.follow(this.#settings.works, signal);
    const stop = this.#manager.onEngage((cluster) => {
      const takeUp = (): void => {
        this.#due.renew(this.#worksFor(cluster.name));
        for (const request of this.requestsOf(cluster.name)) enqueue(request);
      };
      takeUp();
      cluster.onReturn(takeUp);
    });
    this.#teller.follow(enqueue, signal);
    signal.addEventListener('abort', stop, { once: true });
  }

  /** Every Work of a cluster that this executor writes to, prerequisites first. */
  requestsOf(clusterName: string): Request[] {
    return inApplyOrder(this.#worksFor(clusterName), stageOfWork).map((work) => requestOf(work, clusterName));
  }

  /** How many ms a Work waits before it is reconciled: for Works that are due before it, or until the hub hears of its removal. */
  gather(request: Request): number {
    const work = this.#settings.works.get(request);
    if (!work || !this.#settings.accepts(request.cluster)) return 0;
    return work.metadata.deletionTimestamp ? this.#teller.removalLeft(work) : this.#due.left(work);
  }

  /** Each Work fails by itself. It is tried again, ever more seldom. */
  async reconcile(request: Request, { cluster, at, signal, logger }: ReconcileContext): Promise<Result | void> {
    const { works, accepts } = this.#settings;
    const work = works.get(request);
    const key = `${request.namespace}/${request.name}`;
    if (!work || !accepts(request.cluster)) return this.#forget(request.cluster, key);
    const member = { cluster, objects: this.#objectsIn(cluster.name) };
    // By way of the request, so that its next run sees the status in the cache.
    const hub = at(LOCAL_CLUSTER) ?? this.#manager.local;
    const told = { hub, request, work };
    try {
      if (work.metadata.deletionTimestamp) return await this.#remove(member, told, signal);
      if (work.spec.suspendDispatching) return await this.#watch(member, told, signal);
      return await this.#fulfil(member, told, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      const requeueAfter = this.#teller.failed(key);
      const message = error instanceof Error ? error.message : String(error);
      logger.warn({ err: error, retryInMs: Math.round(requeueAfter) }, `cannot do what the Work says: ${message}`);
      return { requeueAfter };
    }
  }

  /** Each object succeeds or fails by itself, and the Work's status says which. */
  async #fulfil(member: Member, told: Told, signal: AbortSignal): Promise<Result | void> {
    const { work } = told;
    const { manifests } = work.spec;
    member.objects.watchFor(work);
    this.#due.begin(work);
    const results: ManifestStatus[] = [];
    for (const manifest of inApplyOrder(manifests, applyStage)) {
      results.push(await this.#writer.write(member, work, manifest, signal));
    }
    // A definition is waited for until the member serves its kind.
    if (!results.some(isToBeEstablished)) this.#due.end(work);
    const isExtra = (ref: ManifestRef): boolean =>
      !manifests.some((manifest) => sameManifest(manifestRefOf(manifest), ref));
    const left = await removeObjects(member, work, { signal, test: isExtra });
    return await this.#tell(member, told, [...results, ...left], signal);
  }

  /** While dispatching is suspended, nothing is written to the member. The hub still gets the status of the objects there. */
  async #watch(member: Member, told: Told, signal: AbortSignal): Promise<Result | void> {
    const { work } = told;
    member.objects.watchFor(work);
    const results: ManifestStatus[] = [];
    for (const ref of work.spec.manifests.map(manifestRefOf)) {
      const { observedGeneration: last } = statusOf(work, ref) ?? {};
      const { object } = await member.objects.managed(ref, signal);
      const isOurs = object?.metadata?.labels?.[MANAGED_LABEL] === labelOf(work);
      results.push(notApplied(ref, last, isOurs ? object : undefined, DISPATCHING_SUSPENDED));
    }
    return await this.#tell(member, told, results, signal);
  }

  async #tell(
    { objects }: Member,
    told: Told,
    results: readonly ManifestStatus[],
    signal: AbortSignal,
  ): Promise<Result | void> {
    const again = await this.#teller.results(told, results, signal);
    return again ?? (objects.hasUnseen(told.work) ? { requeueAfter: UNSEEN_MS } : undefined);
  }

  /** A deleted Work is not held back by a suspension: with its binding goes the only thing that could lift that. */
  async #remove(member: Member, told: Told, signal: AbortSignal): Promise<Result | void> {
    const { hub, work } = told;
    if (isRemoved(work)) return undefined;
    const [left] = await removeObjects(member, work, { signal, test: () => true });
    if (left) throw new Error(left.message);
    const requeueAfter = this.#teller.removalDue(work);
    if (requeueAfter > 0) return { requeueAfter };
    if (!this.#settings.releases) return await this.#teller.removed(told, signal);
    await removeFinalizer(hub.client, { type: WORKS, object: work, finalizer: EXECUTOR_FINALIZER, signal });
  }

  #objectsIn(clusterName: string): ManagedObjects {
    const present = this.#objects.get(clusterName);
    if (present) return present;
    const cluster = this.#manager.cluster(clusterName);
    if (!cluster) throw new Error(`cluster ${clusterName} is not engaged`);
    const objects = new ManagedObjects(cluster, (object, before) => this.#objectChanged(cluster, object, before));
    this.#objects.set(clusterName, objects);
    cluster.signal.addEventListener('abort', () => this.#objects.delete(clusterName), { once: true });
    return objects;
  }

  /** Asks for the Works of a changed object, and for those whose kind a changed definition has begun to serve. */
  #objectChanged({ name }: Cluster, object: KubeObject, before: KubeObject | undefined): void {
    const { works } = this.#settings;
    const namespace = clusterNamespace(name);
    const label = object.metadata?.labels?.[MANAGED_LABEL];
    const kind = establishedKind(before, object);
    const waiting = kind ? worksOfKind(works.inNamespace(namespace), kind) : [];
    for (const work of waiting) this.#teller.mayWorkNow(work);
    const owners = label === undefined ? [] : works.ofManagedLabel(namespace, label);
    for (const work of [...owners, ...waiting]) this.#enqueue?.(requestOf(work, name));
  }

  #worksFor(clusterName: string): Work[] {
    const { works, accepts } = this.#settings;
    return accepts(clusterName) ? works.inNamespace(clusterNamespace(clusterName)) : [];
  }

  #forget(clusterName: string, key: string): void {
    this.#objects.get(clusterName)?.release(key);
    this.#writer.forget(key);
    this.#teller.forget(key);
  }
}

function requestOf({ metadata }: Work, cluster: string): Request {
  return { cluster, namespace: metadata.namespace, name: metadata.name ?? '' };
}
