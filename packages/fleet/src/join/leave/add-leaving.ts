import { type Client, type Clock, systemClock } from '@asterism/client';
import { type Condition, findCondition, isNotFound, type KubeObject, LEASES } from '@asterism/machinery';
import { createController, type Manager, type ReconcileContext, removeFinalizer, type Result } from '@asterism/runtime';
import {
  API_VERSION,
  type Cluster,
  clusterNamespace,
  clusterOfNamespace,
  CLUSTERS,
  CREDENTIAL_SECRET,
  HEARTBEAT_LEASE,
  LEAVE_FINALIZER,
  MADE_BY_JOIN,
  MADE_BY_LABEL,
  WORKS,
  type Work,
} from '../../api/index.ts';
import {
  BEGUN_MESSAGE,
  changedCondition,
  JOIN_TAKEN_OUT,
  LEAVING,
  type LeaveMode,
  leaveOf,
  type LeavingReason,
} from './leave-state.ts';
import { preserve } from './ask-to-leave.ts';
import { removeRegistrations } from './remove-registrations.ts';
import { isRefusal, takeOutJoin } from './take-out-join.ts';

/** How the hub's own conditions of a Cluster that leaves are told from others': a manager each, for an apply is all that one says. */
const MANAGER = 'asterism-leave';
const TAKE_OUT_MANAGER = 'asterism-take-out';
/** After a member did not answer, ms. */
const RETRY_MS = 5_000;
/** An agent that had begun and is not heard of for so long has been taken out with the rest, ms. */
const SILENCE_MS = 30_000;

/**
 * Adds the controller that lets clusters go in order. For the hub.
 *
 * - (L1) A Cluster with the finalizer that is deleted stays until the rest is done; what was done is found again after any end.
 * - (L2) First the Works go, and with them what they placed; in Keep they let go of it. Placement has taken the cluster out of
 *   its decisions by then, so nothing new comes.
 * - (L3) Then what the join made in the member: by the agent, where it writes there (Pull, Dual), else by the hub.
 * - (L4) Last what the hub holds: the registrations, and the Cluster, with which all that belongs to it goes.
 * - (L5) A member that does not answer, or refuses the hub before anything was taken out, is waited for, and the Cluster's condition
 *   says so: only a person knows that it is gone. Refused after that, the hub has what it wanted: its rights went with the rest.
 */
export function addLeaving(manager: Manager, { clock = systemClock }: { clock?: Clock } = {}): void {
  const works = manager.local.cache.informer(WORKS);
  const clusters = manager.local.cache.informer(CLUSTERS);
  // Of a cluster that stays, every status of every Work would ask for nothing.
  const ofWork = (work: KubeObject) => {
    const name = clusterOfNamespace(work.metadata?.namespace ?? '');
    const cluster = name === undefined ? undefined : clusters.store.get(name);
    return name !== undefined && cluster && leaveOf(cluster) ? [{ cluster: '', name }] : [];
  };
  const heard = new Map<string, Heard>();
  manager.add(
    createController({
      name: 'cluster-leave',
      concurrency: 4,
      async reconcile({ name }, context) {
        const cluster = context.cluster.cache.get(CLUSTERS, { name });
        const mode = cluster && leaveOf(cluster);
        if (!cluster || !mode) {
          heard.delete(name);
          return;
        }
        const namespace = clusterNamespace(name);
        const left = works.store.list().filter(({ metadata }) => metadata.namespace === namespace);
        return await new Leave(cluster, mode, { manager, clock, heard, context }).goOn(left);
      },
    })
      .for(CLUSTERS)
      .watches(WORKS, ofWork),
  );
}

/** The `renewTime` of an agent's Lease, and when the hub first saw it, by its monotonic clock: no two machines' clocks are compared. */
interface Heard {
  renewTime: string | undefined;
  at: number;
}

interface Surroundings {
  manager: Manager;
  clock: Clock;
  heard: Map<string, Heard>;
  context: ReconcileContext;
}

/** One look at a cluster that leaves, and the next step. */
class Leave {
  readonly #cluster: Cluster;
  readonly #mode: LeaveMode;
  readonly #clock: Clock;
  readonly #heard: Map<string, Heard>;
  readonly #manager: Manager;
  readonly #context: ReconcileContext;
  readonly #hub: Client;

  constructor(cluster: Cluster, mode: LeaveMode, { manager, clock, heard, context }: Surroundings) {
    this.#cluster = cluster;
    this.#mode = mode;
    this.#manager = manager;
    this.#clock = clock;
    this.#heard = heard;
    this.#context = context;
    this.#hub = context.cluster.client;
  }

  async goOn(works: readonly Work[]): Promise<Result | void> {
    if (works.length > 0) {
      await Promise.all(works.map((work) => this.#letGo(work)));
      return await this.#tell('Draining', this.#drainMessage(works));
    }
    // What it hangs on stays told: two messages in turn would have each look call for the next.
    if (this.#condition(LEAVING)?.reason !== ('TakingOutJoin' satisfies LeavingReason)) {
      await this.#tell('TakingOutJoin', 'nothing placed is left: what the join made in the cluster is taken out');
    }
    const taken = this.#cluster.spec.syncMode === 'Push' ? await this.#takeOut() : await this.#isTakenOut();
    if (taken !== true) return taken;
    const { signal, logger } = this.#context;
    await removeRegistrations(this.#hub, this.#cluster, signal);
    const target = { type: CLUSTERS, object: this.#cluster, finalizer: LEAVE_FINALIZER, signal };
    await removeFinalizer(this.#hub, target);
    logger.info({ member: this.#cluster.metadata.name, mode: this.#mode }, 'a cluster has left');
  }

  async #letGo(work: Work): Promise<void> {
    const { signal } = this.#context;
    const { name = '', namespace, uid, deletionTimestamp } = work.metadata;
    if (this.#mode === 'Keep') await preserve(this.#hub, work, signal);
    if (deletionTimestamp !== undefined) return;
    try {
      await this.#hub.resource(WORKS).delete({ namespace, name }, { preconditions: { uid }, signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  #drainMessage(works: readonly Work[]): string {
    const names = works.map(({ metadata }) => metadata.name ?? '').toSorted();
    const some = names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ');
    const ready = findCondition(this.#cluster.status?.conditions, 'Ready');
    const away = ready?.status === 'True' ? '' : ` (the cluster is not ready: ${ready?.message ?? 'it says nothing'})`;
    const verb = this.#mode === 'Keep' ? 'let go of' : 'taken out';
    return `${works.length} ${works.length === 1 ? 'Work is' : 'Works are'} still to be ${verb}: ${some}${away}`;
  }

  /** As the account by which the hub comes to the member. */
  async #takeOut(): Promise<true | Result> {
    const { name = '' } = this.#cluster.metadata;
    const member = this.#manager.cluster(name);
    const { signal } = this.#context;
    try {
      if (!member) throw new Error('the hub has no way to it');
      const begun = this.#condition(JOIN_TAKEN_OUT)?.reason === 'Begun';
      await takeOutJoin(member.client, { root: 'asterism:hub', signal, begun, onBegun: () => this.#tellBegun() });
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      await this.#tell('TakingOutJoin', this.#hindranceMessage(error));
      return { requeueAfter: RETRY_MS };
    }
  }

  #hindranceMessage(error: unknown): string {
    const { name = '' } = this.#cluster.metadata;
    const said = error instanceof Error ? error.message : String(error);
    const secret = `${clusterNamespace(name)}/${CREDENTIAL_SECRET}`;
    const why = isRefusal(error) ? `it refuses the hub's credential (Secret ${secret}; ${error.code}): ${said}` : said;
    return (
      `what the join made in the cluster cannot be taken out yet: ${why}. If that does not pass, aster leave ${name} --force lets ` +
      `it go; what bears ${MADE_BY_LABEL}=${MADE_BY_JOIN} (accounts, roles, bindings) is left behind there`
    );
  }

  async #isTakenOut(): Promise<true | Result> {
    const condition = this.#condition(JOIN_TAKEN_OUT);
    if (condition?.status === 'True') return true;
    if (condition?.reason === 'Begun' && (await this.#silentFor()) > SILENCE_MS) return true;
    return { requeueAfter: RETRY_MS };
  }

  /** For how long the agent's Lease has not changed, as far as this hub has seen, in ms. */
  async #silentFor(): Promise<number> {
    const ref = { namespace: clusterNamespace(this.#cluster.metadata.name ?? ''), name: HEARTBEAT_LEASE };
    try {
      const { spec } = await this.#hub.resource(LEASES).get(ref, { signal: this.#context.signal });
      const { name = '' } = this.#cluster.metadata;
      const now = this.#clock.monotonic();
      const last = this.#heard.get(name);
      if (last && last.renewTime === spec?.renewTime) return now - last.at;
      this.#heard.set(name, { renewTime: spec?.renewTime, at: now });
      return 0;
    } catch (error) {
      if (isNotFound(error)) return Number.POSITIVE_INFINITY;
      throw error;
    }
  }

  async #tell(reason: LeavingReason, message: string): Promise<void> {
    const wanted = { type: LEAVING, status: 'True', reason, message } as const;
    await this.#apply(wanted, MANAGER);
  }

  /** Before the last step, and in the hub: who comes after us must know what a refusal means. */
  async #tellBegun(): Promise<void> {
    const begun = { type: JOIN_TAKEN_OUT, status: 'False', reason: 'Begun', message: BEGUN_MESSAGE } as const;
    await this.#apply(begun, TAKE_OUT_MANAGER);
  }

  async #apply(wanted: Omit<Condition, 'lastTransitionTime' | 'observedGeneration'>, manager: string): Promise<void> {
    const condition = changedCondition(this.#cluster, wanted, this.#clock.wall().getTime());
    if (!condition) return;
    await applyCondition(this.#hub, this.#cluster, condition, { manager, signal: this.#context.signal });
  }

  #condition(type: string): Condition | undefined {
    return findCondition(this.#cluster.status?.conditions, type);
  }
}

/** Writes one condition of a Cluster and touches no other. */
export async function applyCondition(
  hub: Client,
  { metadata }: Cluster,
  condition: object,
  { manager, signal }: { manager: string; signal: AbortSignal },
): Promise<void> {
  const { name = '' } = metadata;
  const status = { conditions: [condition] };
  const body = { apiVersion: API_VERSION, kind: 'Cluster', metadata: { name }, status } as unknown as Cluster;
  await hub.resource(CLUSTERS).apply(body, { fieldManager: manager, force: true, subresource: 'status', signal });
}
