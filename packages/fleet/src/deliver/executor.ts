import { failure, isStatusError, type KubeObject, objectKey } from '@asterism/machinery';
import {
  type Clock,
  type Cluster,
  type Enqueue,
  LOCAL_CLUSTER,
  type Manager,
  type ReconcileContext,
  removeFinalizer,
  type Request,
  type Result,
  type Store,
} from '@asterism/runtime';
import { clusterNamespace, MANAGED_LABEL, type ManifestStatus, WORKS, type Work } from '../api/index.ts';
import { applyStage, inApplyOrder } from '../template/apply-stage.ts';
import { KindInformers } from '../template/kind-informers.ts';
import { covers } from './member/covers.ts';
import { establishedKind, isToBeEstablished } from './member/established-kind.ts';
import { keepScale } from './member/keep-scale.ts';
import { applyManifest, applyNew, readObject, removeObject, isForeign, whyNotOurs } from './member/member-objects.ts';
import { labelOf, markingOf, ownerOf, worksOfKind } from './member/other-works.ts';
import { whyReserved } from './member/reserved.ts';
import { Retries } from './member/retries.ts';
import { takeOver } from './member/take-over.ts';
import { type AppliedManifest, withoutFields } from './member/undeclared-fields.ts';
import { sameStatus } from './report/binding-status.ts';
import { LoopTurns } from './pace/loop-turns.ts';
import { Coalescer, REPORTS } from './report/coalescer.ts';
import { notApplied, observationOf, remarkOn } from './report/manifest-status.ts';
import { mayWait } from './report/may-wait.ts';
import { memberRefusalWords } from './report/refusal-words.ts';
import { newsOf, statusOf, toldAsApplied } from './report/told-status.ts';
import { WorkReports } from './report/work-reports.ts';
import { isRemoved, removedStatus, workStatus } from './report/work-status.ts';
import { stageOfWork } from './works/apply-order.ts';
import { DueWorks } from './works/due-works.ts';
import { formatManifestRef, type ManifestRef, manifestRefOf, sameManifest } from './works/manifest-ref.ts';
import { DISPATCHING_SUSPENDED } from './works/suspended.ts';
import { clusterOfWork, EXECUTOR_FINALIZER } from './works/work-object.ts';
import type { Works } from './works/works.ts';

const BY_LABEL = 'managed';

/** Between two looks at objects of which no change is seen, ms. */
const UNSEEN_MS = 60_000;

const labelIndex = ({ metadata }: KubeObject): string[] => {
  const label = metadata?.labels?.[MANAGED_LABEL];
  return label === undefined ? [] : [label];
};

export interface ExecutorSettings {
  works: Works;
  clock: Clock;
  random: () => number;
  coalesceMs: number;
  progressMs: number;
  /** Whether it takes its finalizer off a Work that is done with by itself. An agent, which may not, says so in the status. */
  releases: boolean;
  /** Whether this executor writes to the cluster. */
  accepts: (clusterName: string) => boolean;
}

/** A cluster that is written to and the hub, as one request sees them, and what stands there and is ours. */
interface Member {
  hub: Cluster;
  cluster: Cluster;
  objects: KindInformers;
}

/** From which generation of a Work each object was last applied by this process, and without which fields. */
interface Applied {
  uid: string | undefined;
  objects: Map<string, { generation: number; omitted: readonly string[] }>;
}

/**
 * Makes members say what their Works say: the same code in the hub (Push) and in an agent (Pull).
 *
 * E1  An object is applied when the Work has changed since, or the object does not say what the manifest says. So a restart
 *     writes nothing, and others keep the fields that are theirs.
 * E2  What stands there and is not ours is not taken, unless the policy says so; what another Work has placed, never. What is taken
 *     changes only in what its manifest says otherwise.
 * E3  Only what carries this Work's label is removed: when the Work has lost it, and when the Work goes.
 * E4  Each object succeeds or fails by itself, and the Work's status says which. Failures are tried again, ever more seldom; at
 *     once where a definition that we placed begins to serve their kind.
 * E5  The status is written once for all that changes within `coalesceMs`, or within `progressMs` while a rollout is under way
 *     (see mayWait), and not at all where nothing changed.
 * E6  What a member's API does not know of a manifest is left out there, and the status says what. It is tried again with the
 *     next change of the Work.
 * E7  What says as whom this very account may come to the member is no Work's to write (see whyReserved).
 * E8  While dispatching is suspended nothing is written to the member, neither applied nor removed, whatever becomes of the objects
 *     there; their status is reported. A Work that is deleted is not held back: nobody would be left who could lift it.
 * E9  What an autoscaler of the member scales, or what is labelled as scaled there, keeps its replicas (see keepScale).
 * E10 What stood as it was told and is refused now is told of when that is refused again and again: a server that is just starting
 *     refuses everybody for a moment.
 * E11 While the hub gives no answer the member is kept right all the same. What there is to tell waits for the hub's return.
 * E12 What others of the cluster need is applied before them, whichever Works it is in, and a definition is established then. Nobody
 *     waits for long, for what has failed, or with what was tried as it is now (see DueWorks).
 * E13 A kind that the account may write and may not list in the whole cluster, such as Secrets with the profile `workloads`, is
 *     compared every {@link UNSEEN_MS} instead of being watched.
 */
export class Executor {
  readonly #manager: Manager;
  readonly #settings: ExecutorSettings;
  /** What is ours in each cluster, for as long as the cluster is engaged. */
  readonly #objects = new Map<string, KindInformers>();
  readonly #applied = new Map<string, Applied>();
  readonly #coalescer: Coalescer;
  readonly #retries: Retries;
  readonly #reports: WorkReports;
  readonly #due: DueWorks;
  readonly #pace = new LoopTurns();
  #enqueue: Enqueue | undefined;

  constructor(manager: Manager, settings: ExecutorSettings) {
    this.#manager = manager;
    this.#settings = settings;
    this.#coalescer = new Coalescer(settings.clock, REPORTS);
    this.#retries = new Retries(settings.random);
    this.#reports = new WorkReports(manager);
    this.#due = new DueWorks(settings.clock, (work) => this.#enqueue?.(requestOf(work, clusterOfWork(work))));
  }

  /**
   * Takes up a cluster's Works when the cluster is engaged, and when it answers again; each of them when one of its objects
   * changes; and what the hub could not be told when the hub answers again.
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
    this.#reports.follow(enqueue, signal, (key) => this.#retries.succeeded(key));
    signal.addEventListener('abort', stop, { once: true });
  }

  /** Every Work of a cluster that this executor writes to, prerequisites first. */
  requestsOf(clusterName: string): Request[] {
    return inApplyOrder(this.#worksFor(clusterName), stageOfWork).map((work) => requestOf(work, clusterName));
  }

  /**
   * How long a Work waits yet before one looks again, in ms. One that goes: what was removed is told of by an event of its own. Any
   * other: for those before it (E12).
   */
  gather(request: Request): number {
    const work = this.#settings.works.get(request);
    if (!work || !this.#settings.accepts(request.cluster)) return 0;
    return work.metadata.deletionTimestamp ? this.#coalescer.left(objectKey(work), 0) : this.#due.left(work);
  }

  async reconcile(request: Request, { cluster, at, signal, logger }: ReconcileContext): Promise<Result | void> {
    const { works, accepts } = this.#settings;
    const work = works.get(request);
    const key = `${request.namespace}/${request.name}`;
    if (!work || !accepts(request.cluster)) return this.#forget(request.cluster, key);
    // By way of the request, so that its next run sees the status in the cache.
    const hub = at(LOCAL_CLUSTER) ?? this.#manager.local;
    const member = { hub, cluster, objects: this.#objectsIn(cluster.name) };
    try {
      if (!work.metadata.deletionTimestamp) return await this.#fulfil(member, work, signal);
      return await this.#empty(member, work, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      const requeueAfter = this.#retries.next(key);
      const message = error instanceof Error ? error.message : String(error);
      logger.warn({ err: error, retryInMs: Math.round(requeueAfter) }, `cannot do what the Work says: ${message}`);
      return { requeueAfter };
    }
  }

  async #fulfil(member: Member, work: Work, signal: AbortSignal): Promise<Result | void> {
    const { manifests, suspendDispatching } = work.spec;
    member.objects.hold(objectKey(work), manifests.map(manifestRefOf));
    const results: ManifestStatus[] = [];
    if (suspendDispatching) {
      for (const manifest of manifests)
        results.push(await this.#observe(member, work, manifestRefOf(manifest), signal));
      return this.#report(member, work, results, signal);
    }
    this.#due.begin(work);
    for (const manifest of inApplyOrder(manifests, applyStage))
      results.push(await this.#bring(member, work, manifest, signal));
    if (!results.some(isToBeEstablished)) this.#due.end(work);
    const left = await this.#remove(
      member,
      work,
      signal,
      (ref) => !manifests.some((each) => sameManifest(manifestRefOf(each), ref)),
    );
    return this.#report(member, work, [...results, ...left], signal);
  }

  /** Where much goes at once, first the objects go, and then what is to be said of it. */
  async #empty(member: Member, work: Work, signal: AbortSignal): Promise<Result | void> {
    if (isRemoved(work)) return undefined;
    const key = objectKey(work);
    const [left] = await this.#remove(member, work, signal, () => true);
    if (left) throw new Error(left.message);
    const requeueAfter = this.#coalescer.remaining(key, 0);
    if (requeueAfter > 0) return { requeueAfter };
    if (this.#settings.releases) {
      await removeFinalizer(member.hub.client, { type: WORKS, object: work, finalizer: EXECUTOR_FINALIZER, signal });
      return;
    }
    return this.#tell(member, work, removedStatus(work, this.#now()), signal);
  }

  /** Tells how one object of a Work that is held back stands. */
  async #observe({ objects }: Member, work: Work, ref: ManifestRef, signal: AbortSignal): Promise<ManifestStatus> {
    const { observedGeneration: last } = statusOf(work, ref) ?? {};
    const live = (await readableStore(objects, ref, signal))?.get(storeKey(ref));
    const isOurs = live?.metadata?.labels?.[MANAGED_LABEL] === labelOf(work);
    return notApplied(ref, last, isOurs ? live : undefined, DISPATCHING_SUSPENDED);
  }

  /** Makes one object say what its manifest says, and tells how it stands. Throws only where the member does not answer. */
  async #bring(member: Member, work: Work, manifest: KubeObject, signal: AbortSignal): Promise<ManifestStatus> {
    const ref = manifestRefOf(manifest);
    const { generation: observedGeneration = 0 } = work.metadata;
    try {
      const { live, omitted } = await this.#apply(member, work, manifest, signal);
      this.#appliedBy(work).set(formatManifestRef(ref), { generation: observedGeneration, omitted });
      return { ...ref, applied: true, ...remarkOn(omitted), observedGeneration, ...observationOf(live) };
    } catch (error) {
      if (!isStatusError(error)) throw error;
      const { observedGeneration: last } = statusOf(work, ref) ?? {};
      const live = last === undefined ? undefined : member.objects.store(ref)?.get(storeKey(ref));
      return notApplied(ref, last, live, `${formatManifestRef(ref)}: ${memberRefusalWords(error, ref)}`);
    }
  }

  async #apply(
    { cluster, objects }: Member,
    work: Work,
    manifest: KubeObject,
    signal: AbortSignal,
  ): Promise<AppliedManifest> {
    const ref = manifestRefOf(manifest);
    const reserved = whyReserved(ref);
    if (reserved !== undefined) throw failure(403, reserved);
    const label = labelOf(work);
    const omitted = this.#omittedFrom(work, ref);
    const type = await cluster.client.discovery.typeFor(manifest);
    const marking = markingOf(this.#settings.works, work);
    const store = await readableStore(objects, ref, signal);
    const seen = store?.get(storeKey(ref));
    if (store && !seen && !statusOf(work, ref)) {
      const made = await applyNew(cluster, type, manifest, marking, signal);
      if (made) return made;
    }
    const live = seen ?? (await readObject(cluster, type, ref, signal));
    const known = await keepScale(cluster, withoutFields(manifest, omitted), live, signal);
    if (live?.metadata?.labels?.[MANAGED_LABEL] === label) {
      if (this.#isApplied(work, ref) && (await this.#pace.run(() => covers(live, known)))) return { live, omitted };
    } else if (live) {
      const overwrite = work.spec.conflictResolution === 'Overwrite';
      const why = whyNotOurs(live, { overwrite, owner: (other) => ownerOf(this.#settings.works, other, work) });
      if (why) throw failure(409, why);
      if (isForeign(live)) await takeOver(cluster, type, live, signal);
    }
    const applied = await applyManifest(cluster, type, known, marking, signal);
    // The kind is served, but was not when it was held.
    if (!store && !objects.isForbidden(ref)) objects.recheck();
    return { live: applied.live, omitted: [...omitted, ...applied.omitted] };
  }

  /** Removes what is the Work's and passes the test; tells what could not be. */
  async #remove(
    { cluster, objects }: Member,
    work: Work,
    signal: AbortSignal,
    test: (ref: ManifestRef) => boolean,
  ): Promise<ManifestStatus[]> {
    const label = labelOf(work);
    const labelled = objects.kinds().flatMap((kind) => objects.store(kind)?.byIndex(BY_LABEL, label) ?? []);
    const told = (work.status?.manifestStatuses ?? []).map(({ apiVersion, kind, namespace, name }) => {
      return { apiVersion, kind, name, ...(namespace ? { namespace } : {}) };
    });
    const refs = [...told, ...[...work.spec.manifests, ...labelled].map(manifestRefOf)].filter(test);
    const distinct = [...new Map(refs.map((ref) => [formatManifestRef(ref), ref])).values()];
    const preserve = work.spec.preserveResourcesOnDeletion === true && work.metadata.deletionTimestamp !== undefined;
    const left: ManifestStatus[] = [];
    // What was applied first goes last.
    for (const ref of distinct.toReversed()) {
      try {
        const known = preserve ? undefined : objects.store(ref)?.get(storeKey(ref));
        await removeObject(cluster, ref, { label, preserve, known, signal });
      } catch (error) {
        if (!isStatusError(error)) throw error;
        const words = memberRefusalWords(error, ref);
        left.push({ ...ref, applied: false, message: `${formatManifestRef(ref)} cannot be removed: ${words}` });
      }
    }
    return left;
  }

  async #report(member: Member, work: Work, results: ManifestStatus[], signal: AbortSignal): Promise<Result | void> {
    const { coalesceMs, progressMs } = this.#settings;
    const key = objectKey(work);
    const failed = !work.spec.suspendDispatching && results.some(({ applied }) => !applied);
    if (!failed) this.#retries.succeeded(key);
    const mayPass = failed && this.#retries.mayPass(key);
    const known = results.map((each) => (!each.applied && mayPass && toldAsApplied(work, each)) || each);
    const wanted = workStatus(work, known, this.#now());
    if (!sameStatus(work.status, wanted)) {
      const requeueAfter = this.#coalescer.remaining(key, mayWait(newsOf(work, known)) ? progressMs : coalesceMs);
      if (requeueAfter > 0) return { requeueAfter };
      const untold = await this.#tell(member, work, wanted, signal);
      if (untold) return untold;
    }
    this.#coalescer.settled(key);
    if (failed) return { requeueAfter: this.#retries.next(key) };
    const unseen = work.spec.manifests.some((manifest) => member.objects.isForbidden(manifestRefOf(manifest)));
    return unseen ? { requeueAfter: UNSEEN_MS } : undefined;
  }

  #tell({ hub, cluster }: Member, work: Work, status: NonNullable<Work['status']>, signal: AbortSignal) {
    return this.#reports.write(hub, { work, request: requestOf(work, cluster.name) }, status, signal);
  }

  #now(): string {
    return this.#settings.clock
      .wall()
      .toISOString()
      .replace(/\.\d+Z$/, 'Z');
  }

  #isApplied(work: Work, ref: ManifestRef): boolean {
    const applied = this.#appliedBy(work).get(formatManifestRef(ref));
    return applied?.generation === work.metadata.generation || toldAsApplied(work, ref) !== undefined;
  }

  /** The fields without which this generation of the Work was applied. */
  #omittedFrom(work: Work, ref: ManifestRef): readonly string[] {
    const applied = this.#appliedBy(work).get(formatManifestRef(ref));
    return applied && applied.generation === work.metadata.generation ? applied.omitted : [];
  }

  #appliedBy(work: Work): Applied['objects'] {
    const { uid } = work.metadata;
    const key = objectKey(work);
    const present = this.#applied.get(key);
    const applied: Applied = present?.uid === uid && present ? present : { uid, objects: new Map() };
    this.#applied.set(key, applied);
    return applied.objects;
  }

  #objectsIn(clusterName: string): KindInformers {
    const present = this.#objects.get(clusterName);
    if (present) return present;
    const cluster = this.#manager.cluster(clusterName);
    if (!cluster) throw new Error(`cluster ${clusterName} is not engaged`);
    const ask = (object: KubeObject, before?: KubeObject): void => {
      const { works } = this.#settings;
      const namespace = clusterNamespace(clusterName);
      const label = object.metadata?.labels?.[MANAGED_LABEL];
      const kind = establishedKind(before, object);
      const waiting = kind ? worksOfKind(works.inNamespace(namespace), kind) : [];
      for (const work of waiting) this.#retries.succeeded(objectKey(work)); // its failures say nothing any more
      const owners = label === undefined ? [] : works.ofManagedLabel(namespace, label);
      for (const work of [...owners, ...waiting]) this.#enqueue?.(requestOf(work, clusterName));
    };
    const objects = new KindInformers({
      cluster,
      labelSelector: MANAGED_LABEL,
      indexes: { [BY_LABEL]: labelIndex },
    });
    objects.addHandler({
      onAdd: (object, initial) => (initial ? undefined : ask(object)),
      onUpdate: (before, object) => ask(object, before),
      onDelete: (object) => ask(object, object),
    });
    this.#objects.set(clusterName, objects);
    cluster.signal.addEventListener('abort', () => this.#objects.delete(clusterName), { once: true });
    return objects;
  }

  #worksFor(clusterName: string): Work[] {
    const { works, accepts } = this.#settings;
    return accepts(clusterName) ? works.inNamespace(clusterNamespace(clusterName)) : [];
  }

  #forget(clusterName: string, key: string): void {
    this.#objects.get(clusterName)?.hold(key, []);
    this.#applied.delete(key);
    this.#coalescer.settled(key);
    this.#retries.succeeded(key);
    this.#reports.forget(key);
  }
}

function requestOf({ metadata }: Work, cluster: string): Request {
  return { cluster, namespace: metadata.namespace, name: metadata.name ?? '' };
}

/** Undefined also for a kind that the account may not list: each of its objects is then read by itself. */
async function readableStore(
  objects: KindInformers,
  ref: ManifestRef,
  signal: AbortSignal,
): Promise<Store | undefined> {
  try {
    return await objects.synced(ref, signal);
  } catch (error) {
    if (isStatusError(error, 'Forbidden')) return undefined;
    throw error;
  }
}

function storeKey({ namespace, name }: ManifestRef): string {
  return namespace ? `${namespace}/${name}` : name;
}
