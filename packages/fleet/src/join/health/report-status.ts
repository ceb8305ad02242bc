import { type Clock, sleep } from '@asterism/client';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
  deepEqual,
  NODES,
  PODS,
  SERVICE_CIDRS,
  setCondition,
} from '@asterism/machinery';
import type { Cluster as EngagedCluster, Logger } from '@asterism/runtime';
import { API_VERSION, type Cluster, CLUSTERS } from '../../api/index.ts';
import { checkReadiness, type Readiness } from './check-readiness.ts';
import { Doorbell } from './doorbell.ts';
import { servedApis } from './served-apis.ts';
import { summarizeCluster, trimNode, trimPod } from './summarize-cluster.ts';

type Status = NonNullable<Cluster['status']>;

export interface StatusReporterOptions {
  clusterName: string;
  agentVersion?: string | undefined;
  member: EngagedCluster;
  hub: EngagedCluster;
  logger: Logger;
  clock: Clock;
  /** How often the member is asked whether it is ready, ms. */
  readinessMs: number;
  /** How often versions and served APIs are asked for again, ms. */
  statusMs: number;
  /** The least time between two writes that only tell of allocated resources, ms. */
  pauseMs: number;
  /** Told once: the hub has a status that is true now. */
  onFirst?: (() => void) | undefined;
}

/** The agent's own part of a Cluster's status: other managers' conditions stay. */
const MANAGER = 'asterism-agent';
/** Events come in bursts: so long after the first of one, ms. */
const SETTLE_MS = 100;
/** After a failed write, ms. */
const RETRY_MS = 1_000;
/** How long the member may take to say that it is ready, ms. */
const READINESS_TIMEOUT_MS = 10_000;

/**
 * Keeps the status of a member's Cluster in the hub as the member is: on change, and looked at anew now and then. Writes only
 * what differs from what the hub has, which it watches; so it also takes `Ready` back that the hub had set to Unknown.
 */
export class StatusReporter {
  readonly name = 'cluster-status';
  readonly #options: StatusReporterOptions;
  readonly #bell: Doorbell;
  /** Versions and served APIs: asked for seldom. */
  #facts: { status: Partial<Status>; until: number } | undefined;
  #lastWrite = Number.NEGATIVE_INFINITY;
  #told = false;

  constructor(options: StatusReporterOptions) {
    this.#options = options;
    this.#bell = new Doorbell(options.clock);
  }

  /** Resolves when the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { member, hub, clusterName, logger } = this.#options;
    const own = hub.cache.informer(CLUSTERS, { fieldSelector: `metadata.name=${clusterName}` });
    const nodes = member.cache.informer(NODES, { transform: trimNode });
    const pods = member.cache.informer(PODS, { transform: trimPod });
    const definitions = member.cache.informer(CUSTOM_RESOURCE_DEFINITIONS, { transform: trimDefinition });
    const ring = (): void => this.#bell.ring();
    const refresh = (): void => {
      this.#facts = undefined;
      ring();
    };
    for (const informer of [own, nodes, pods]) informer.addHandler({ onAdd: ring, onUpdate: ring, onDelete: ring });
    definitions.addHandler({ onAdd: refresh, onUpdate: refresh, onDelete: refresh });
    for (const informer of [own, nodes, pods]) informer.synced(signal).then(ring, () => {});
    while (!signal.aborted) {
      const live = own.store.get(clusterName);
      const readable = nodes.hasSynced && pods.hasSynced;
      const waitMs = live
        ? await this.#report(
            live,
            readable ? summarizeCluster(nodes.store.list(), pods.store.list()) : {},
            signal,
          ).catch((error: unknown) => {
            if (!signal.aborted) logger.warn({ err: error }, 'the status of this cluster could not be reported');
            return RETRY_MS;
          })
        : Number.POSITIVE_INFINITY;
      await this.#bell.wait(waitMs, signal);
      await sleep(this.#options.clock, SETTLE_MS, signal).catch(() => {});
    }
    for (const informer of [own, nodes, pods, definitions]) informer.release();
  }

  /** @returns after how many ms to look again if nobody rings. */
  async #report(live: Cluster, summary: Partial<Status>, signal: AbortSignal): Promise<number> {
    const { member, hub, clock, readinessMs, pauseMs, logger } = this.#options;
    const readiness = await checkReadiness(member.client, { clock, timeoutMs: READINESS_TIMEOUT_MS }, signal);
    if (readiness.ready && !('nodes' in summary)) return readinessMs; // The first lists are on their way.
    const known = readiness.ready ? { ...(await this.#readFacts(signal)), ...summary } : undefined;
    const status = statusOf(live, known, readiness, clock.now());
    const before = ownPart(live.status ?? {});
    if (deepEqual(status, before)) return this.#written(readinessMs);
    const rest = this.#lastWrite + pauseMs - clock.now();
    if (rest > 0 && onlyAllocationDiffers(before, status)) return Math.min(rest, readinessMs);
    await hub.client
      .resource(CLUSTERS)
      .apply(
        { apiVersion: API_VERSION, kind: 'Cluster', metadata: { name: live.metadata.name ?? '' }, status } as Cluster,
        { fieldManager: MANAGER, force: true, subresource: 'status', signal },
      );
    logger.debug({}, 'reported the status of this cluster');
    this.#lastWrite = clock.now();
    return this.#written(readinessMs);
  }

  #written(waitMs: number): number {
    if (!this.#told) this.#options.onFirst?.();
    this.#told = true;
    return waitMs;
  }

  async #readFacts(signal: AbortSignal): Promise<Partial<Status>> {
    const { member, clock, statusMs, agentVersion } = this.#options;
    if (this.#facts && clock.now() < this.#facts.until) return this.#facts.status;
    const { client } = member;
    client.discovery.refresh();
    const [version, resources] = await Promise.all([client.version({ signal }), client.discovery.resources()]);
    const hasServiceCidrs = resources.some(
      ({ group, version: v, resource }) =>
        group === SERVICE_CIDRS.group && v === SERVICE_CIDRS.version && resource === SERVICE_CIDRS.resource,
    );
    const serviceCidrs = hasServiceCidrs ? (await client.resource(SERVICE_CIDRS).list({ signal })).items : [];
    const status: Partial<Status> = {
      kubernetesVersion: version.gitVersion,
      ...(typeof version['platform'] === 'string' ? { platform: version['platform'] } : {}),
      ...(agentVersion === undefined ? {} : { agentVersion }),
      serviceCIDRs: serviceCidrs.flatMap((cidr) => cidr.spec?.cidrs ?? []).sort(),
      apis: servedApis(resources),
    };
    this.#facts = { status, until: clock.now() + statusMs };
    return status;
  }
}

/** What the agent has to say. A member that cannot be asked keeps what was known of it, but for its readiness. */
function statusOf(live: Cluster, known: Partial<Status> | undefined, readiness: Readiness, now: number): Status {
  const observedGeneration = live.metadata.generation ?? 1;
  const ready = readiness.ready
    ? { status: 'True' as const, reason: 'ClusterReady', message: 'the API server answers and says that it is ready' }
    : { status: 'False' as const, reason: readiness.reason, message: readiness.message };
  const conditions = setCondition(
    live.status?.conditions,
    { type: 'Ready', ...ready, observedGeneration },
    new Date(now).toISOString().replace(/\.\d+Z$/, 'Z'),
  );
  return ownPart({ ...(known ?? live.status), observedGeneration, conditions });
}

/** A status without the conditions that others write. */
function ownPart(status: Status): Status {
  return { ...status, conditions: (status.conditions ?? []).filter(({ type }) => type === 'Ready') };
}

function onlyAllocationDiffers(before: Status, after: Status): boolean {
  const rest = ({ resources, conditions, ...others }: Status) => ({
    ...others,
    ready: conditions?.find(({ type }) => type === 'Ready'),
    resources: { capacity: resources?.capacity, allocatable: resources?.allocatable },
  });
  return deepEqual(rest(before), rest(after));
}

/** That there is one, and that it changed, is all that matters here. */
function trimDefinition({ metadata, spec }: CustomResourceDefinition): CustomResourceDefinition {
  const { name = '', uid = '', generation = 0, resourceVersion = '' } = metadata ?? {};
  return { metadata: { name, uid, generation, resourceVersion }, spec: { ...spec, versions: [] } };
}
