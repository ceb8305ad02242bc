import { type Clock, type DiscoveredResource, sleep } from '@asterism/client';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
  deepEqual,
  formatTime,
  setCondition,
} from '@asterism/machinery';
import type { Cluster as EngagedCluster, Informer, Logger } from '@asterism/runtime';
import { API_VERSION, type Cluster, CLUSTERS } from '../../api/index.ts';
import { checkReadiness, type Readiness } from './check-readiness.ts';
import { Doorbell } from './doorbell.ts';
import { findNetworks } from './find-networks.ts';
import {
  factsDiffer,
  keepNodeFacts,
  keepPodFacts,
  NODE_FACTS,
  type NodeFacts,
  POD_FACTS,
  type PodFacts,
} from './member-facts.ts';
import { mergeRanges } from './merge-ranges.ts';
import { missingKinds, outlineDefinition } from './missing-kinds.ts';
import { PermissionReporter } from './report-permissions.ts';
import { servedApis } from './served-apis.ts';
import { statusChange } from './status-change.ts';
import { type ClusterSummary, summarizeCluster } from './summarize-cluster.ts';

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
  /** How often versions and served APIs are asked for again, and small changes are written, ms. */
  statusMs: number;
  /** The least time between two writes that only tell of figures, such as allocated resources, ms. */
  pauseMs: number;
  /** Events come in bursts: so long after the first of one, ms. Default {@link SETTLE_MS}. */
  settleMs?: number | undefined;
  /** Of the tunnel, ms, where there is one and it was measured. */
  roundTripMs?: (() => number | undefined) | undefined;
  /** Who acts in the member: the agent itself, or the hub. Undefined where a person gave the hub its credential. */
  acting?: { syncMode: Cluster['spec']['syncMode']; self: boolean } | undefined;
  /** Who looks at the member, for messages. Default `the agent`. */
  asker?: string | undefined;
  /**
   * False: that the member gives no answer is not told here, but by whoever counts its silence, as of an agent that says nothing. Default
   * true.
   */
  tellsNoAnswer?: boolean | undefined;
  /** Told once: the hub has a status that is true now. */
  onFirst?: (() => void) | undefined;
  /** Told after each look at the member. */
  onLook?: ((readiness: Readiness) => void) | undefined;
}

/** The reporter's own part of a Cluster's status: other managers' conditions stay. */
const MANAGER = 'asterism-agent';
const SETTLE_MS = 1_000;
/** After a failed write, ms. */
const RETRY_MS = 1_000;
/** How long the member may take to say that it is ready, ms. */
const READINESS_TIMEOUT_MS = 10_000;
/** A cluster of so many nodes is told by their ranges one by one. */
const MANY_RANGES = 32;

/** What is asked for seldom. */
type Facts = Partial<Status> & { addresses?: string[] | undefined };

/**
 * Keeps the status of a member's Cluster in the hub as the member is.
 *
 * R1  Writes only what differs from what the hub has, which it watches; so it also takes `Ready` back that the hub had set to
 *     Unknown.
 * R2  What people and controllers wait for is written as soon as a burst of events has settled; figures at most every
 *     `pauseMs`, and only when they changed by a step that matters; what else differs, every `statusMs`.
 * R3  A kind that the member begins to serve is told within seconds: what waits for it is placed then. Discovery is asked again,
 *     ever more seldom, while it does not list what is established.
 * R4  Of nodes and pods only what is added up is held.
 */
export class StatusReporter {
  readonly name = 'cluster-status';
  readonly #options: StatusReporterOptions;
  readonly #bell: Doorbell;
  readonly #permissions: PermissionReporter | undefined;
  #facts: { known: Facts; until: number } | undefined;
  /** Between two questions to discovery while kinds are missing there, ms. */
  #discoveryMs = RETRY_MS;
  #missing: readonly string[] = [];
  #lastWrite = Number.NEGATIVE_INFINITY;
  /** When nodes and pods were last added up, or found unchanged. */
  #summarized = Number.NEGATIVE_INFINITY;
  /** Undefined when one of them has changed since. */
  #summary: ClusterSummary | undefined;
  #told = false;
  #definitions: Informer<CustomResourceDefinition> | undefined;

  constructor(options: StatusReporterOptions) {
    this.#options = options;
    this.#bell = new Doorbell(options.clock);
    const { acting, member, clock, readinessMs: lookMs, statusMs: checkMs } = options;
    this.#permissions = acting && new PermissionReporter({ ...acting, member: member.client, clock, lookMs, checkMs });
  }

  /** Resolves when the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { member, hub, clusterName, clock, settleMs = SETTLE_MS } = this.#options;
    const own = hub.cache.informer(CLUSTERS, { fieldSelector: `metadata.name=${clusterName}` });
    const nodes = member.cache.informer(NODE_FACTS, { transform: keepNodeFacts });
    const pods = member.cache.informer(POD_FACTS, { transform: keepPodFacts });
    const definitions = member.cache.informer(CUSTOM_RESOURCE_DEFINITIONS, { transform: outlineDefinition });
    this.#definitions = definitions;
    this.#listen(own, definitions, [nodes, pods]);
    for (const informer of [own, nodes, pods])
      informer.synced(signal).then(
        () => this.#bell.ring(),
        () => {},
      );
    while (!signal.aborted) {
      const waitMs = await this.#look(own, nodes, pods, signal);
      await this.#bell.wait(waitMs, signal);
      if (this.#told) await sleep(clock, settleMs, signal).catch(() => {});
    }
    for (const informer of [own, nodes, pods, definitions]) informer.release();
  }

  #listen(
    own: Informer<Cluster>,
    definitions: Informer<CustomResourceDefinition>,
    [nodes, pods]: readonly [Informer<NodeFacts>, Informer<PodFacts>],
  ): void {
    const ring = (): void => this.#bell.ring();
    const refresh = (): void => {
      this.#facts = undefined;
      ring();
    };
    own.addHandler({ onAdd: ring, onUpdate: ring, onDelete: ring });
    definitions.addHandler({ onAdd: refresh, onUpdate: refresh, onDelete: refresh });
    const recount = (): void => {
      this.#summary = undefined;
      ring();
    };
    nodes.addHandler({
      onAdd: recount,
      onUpdate: (before, after) => {
        if (factsDiffer(before, after)) recount();
      },
      onDelete: recount,
    });
    // Pods come and go all the time, and change nothing but figures: what comes sooner waits for the next look.
    const { clock, pauseMs } = this.#options;
    const ringForFigures = (): void => {
      this.#summary = undefined;
      if (clock.monotonic() - this.#summarized >= pauseMs) ring();
    };
    pods.addHandler({
      onAdd: ringForFigures,
      onUpdate: (before, after) => {
        if (factsDiffer(before, after)) ringForFigures();
      },
      onDelete: ringForFigures,
    });
  }

  /** @returns after how many ms to look again if nobody rings. */
  async #look(
    own: Informer<Cluster>,
    nodes: Informer<NodeFacts>,
    pods: Informer<PodFacts>,
    signal: AbortSignal,
  ): Promise<number> {
    const { clusterName, logger } = this.#options;
    const live = own.store.get(clusterName);
    if (!live) return Number.POSITIVE_INFINITY;
    const readable = nodes.hasSynced && pods.hasSynced;
    const summarize = (): ClusterSummary | undefined => {
      if (!readable) return undefined;
      this.#summarized = this.#options.clock.monotonic();
      this.#summary ??= summarizeCluster(nodes.store.list(), pods.store.list());
      return this.#summary;
    };
    try {
      return await this.#report(live, summarize, signal);
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error }, 'the status of this cluster could not be reported');
      return RETRY_MS;
    }
  }

  async #report(live: Cluster, summarize: () => ClusterSummary | undefined, signal: AbortSignal): Promise<number> {
    const { member, hub, clock, readinessMs, pauseMs, statusMs, logger, asker, onLook } = this.#options;
    const { tellsNoAnswer = true } = this.#options;
    const readiness = await checkReadiness(member.client, { clock, timeoutMs: READINESS_TIMEOUT_MS, asker }, signal);
    onLook?.(readiness);
    if (!readiness.answers && !tellsNoAnswer) return readinessMs;
    const facts = readiness.ready ? await this.#readFacts(signal) : undefined;
    const summary = readiness.ready ? summarize() : undefined;
    if (readiness.ready && !summary) return readinessMs; // The first lists are on their way.
    const permissions = facts && (await this.#permissions?.look(signal));
    const known = facts && summary ? { ...combine(facts, summary), permissions } : undefined;
    const status = this.#statusOf(live, readiness, known);
    const change = statusChange(ownPart(live.status ?? {}), status);
    if (change === 'none') return this.#upToDate();
    const pause = change === 'facts' ? 0 : change === 'figures' ? pauseMs : statusMs;
    const rest = this.#lastWrite + pause - clock.monotonic();
    if (rest > 0) return Math.min(rest, readinessMs);
    await hub.client
      .resource(CLUSTERS)
      .apply(
        { apiVersion: API_VERSION, kind: 'Cluster', metadata: { name: live.metadata.name ?? '' }, status } as Cluster,
        { fieldManager: MANAGER, force: true, subresource: 'status', signal },
      );
    logger.debug({ change }, 'reported the status of this cluster');
    this.#lastWrite = clock.monotonic();
    return this.#upToDate();
  }

  #upToDate(): number {
    if (!this.#told) this.#options.onFirst?.();
    this.#told = true;
    return this.#untilNextLook();
  }

  async #readFacts(signal: AbortSignal): Promise<Facts> {
    const { member, clock, agentVersion } = this.#options;
    if (this.#facts && clock.monotonic() < this.#facts.until) return this.#facts.known;
    const { client } = member;
    client.discovery.refresh();
    const [version, resources] = await Promise.all([client.version({ signal }), client.discovery.resources()]);
    const { addresses, podCIDRs, serviceCIDRs } = await findNetworks(client, resources, signal);
    const known: Facts = {
      kubernetesVersion: version.gitVersion,
      ...(typeof version['platform'] === 'string' ? { platform: version['platform'] } : {}),
      ...(agentVersion === undefined ? {} : { agentVersion }),
      addresses,
      podCIDRs,
      serviceCIDRs,
      apis: servedApis(resources),
    };
    this.#facts = { known, until: clock.monotonic() + this.#validMs(resources) };
    return known;
  }

  /** For how long what discovery said may be taken for all there is. */
  #validMs(resources: readonly DiscoveredResource[]): number {
    const { statusMs } = this.#options;
    const missing = missingKinds(this.#definitions?.store.list() ?? [], resources);
    this.#discoveryMs = deepEqual(missing, this.#missing) ? Math.min(this.#discoveryMs * 2, statusMs) : RETRY_MS;
    this.#missing = missing;
    return missing.length > 0 ? this.#discoveryMs : statusMs;
  }

  /** When to look again, though nobody rings: no later than discovery is to be asked again. */
  #untilNextLook(): number {
    const { readinessMs, clock } = this.#options;
    if (this.#missing.length === 0 || !this.#facts) return readinessMs;
    return Math.max(0, Math.min(readinessMs, this.#facts.until - clock.monotonic()));
  }

  /** What is to be told. A member that cannot be asked keeps what was known of it, but for its readiness. */
  #statusOf(live: Cluster, readiness: Readiness, known: Facts | undefined): Status {
    const { clock, roundTripMs } = this.#options;
    const before: Facts = { ...live.status, addresses: live.status?.apiServer?.addresses };
    const { addresses = [], tunnel: _, permissions, ...facts } = known ?? before;
    const observedGeneration = live.metadata.generation ?? 1;
    const { ready, reason, message, probes } = readiness;
    const conditions = setCondition(
      live.status?.conditions,
      { type: 'Ready', status: ready ? 'True' : 'False', reason, message, observedGeneration },
      formatTime(clock.wall().getTime()),
    );
    const roundTrip = roundTripMs?.();
    const tunnel = roundTrip === undefined ? live.status?.tunnel : { roundTripMilliseconds: Math.round(roundTrip) };
    return ownPart({
      ...facts,
      ...(permissions ? { permissions } : {}),
      observedGeneration,
      conditions,
      apiServer: { ...(addresses.length > 0 ? { addresses } : {}), ...probes },
      ...(roundTripMs && tunnel ? { tunnel } : {}),
    });
  }
}

/** What the cluster says of its networks is of more use than what its nodes have of them. */
function combine(facts: Facts, summary: ClusterSummary): Facts {
  const ranges = facts.podCIDRs?.length ? facts.podCIDRs : summary.podCIDRs;
  return { ...facts, ...summary, podCIDRs: ranges.length > MANY_RANGES ? mergeRanges(ranges) : ranges };
}

/** A status without the conditions that others write. */
function ownPart(status: Status): Status {
  return { ...status, conditions: (status.conditions ?? []).filter(({ type }) => type === 'Ready') };
}
