import { setTimeout as delay } from 'node:timers/promises';
import { benchDeployment, type Spread } from './bench-deployment.ts';
import type { FleetUnderTest, Member } from './fleet-under-test.ts';
import { type RequestCount, subtractCounts } from './request-counts.ts';

/** Writes that follow a change come within a second of it. */
const SETTLE_MS = 1_500;
const AT_ONCE = 4;

export type FleetProcess = 'hub' | 'members' | 'agents';
export type CpuByProcess = Record<FleetProcess, number>;

/** A fleet whose processes are billed apart. */
export interface BilledFleet {
  /** CPU of each process so far, ms; of all its threads. */
  cpu(): CpuByProcess;
  requestCounts(): Promise<RequestCount[]>;
  /** The newest version in the hub's store: it rises by one with each write. */
  revision(): Promise<number>;
}

/** What a number of Deployments cost, all told, beyond what the fleet costs anyway. */
export interface BatchCost {
  deployments: number;
  /** ms */
  cpu: CpuByProcess;
  requests: RequestCount[];
  /** By how much the version of the hub's store rose, heartbeats included. */
  revisions: number;
}

/** What the fleet costs in a second in which nobody does anything, ms of CPU. */
export async function idleCost(fleet: BilledFleet, ms: number, signal: AbortSignal): Promise<CpuByProcess> {
  const before = fleet.cpu();
  const started = performance.now();
  await delay(ms, undefined, { signal });
  const seconds = (performance.now() - started) / 1000;
  return mapCpu(fleet.cpu(), (cpu, name) => (cpu - before[name]) / seconds);
}

const QUIET = { windowMs: 1_000, cpuMs: 250, patienceMs: 20_000 };

/** Resolves when what follows a start (first lists, the search index) is done: a quarter of one core or less, or after 20 s. */
export async function untilQuiet(fleet: BilledFleet, signal: AbortSignal): Promise<void> {
  const until = performance.now() + QUIET.patienceMs;
  while (performance.now() < until) {
    const { hub, agents, members } = await idleCost(fleet, QUIET.windowMs, signal);
    if (hub + agents + members <= QUIET.cpuMs) return;
  }
}

export interface Batch {
  count: number;
  idle: CpuByProcess;
  signal: AbortSignal;
}

/** Applies Deployments at the hub, a few at once, and waits until every replica is ready and the hub says so. */
export function placeBatch(fleet: FleetUnderTest, spread: Spread, batch: Batch): Promise<BatchCost> {
  const replicas = spread === 'all' ? 1 : fleet.two.length;
  const ready = spread === 'all' ? fleet.members.length : fleet.two.length;
  return measureBatch(fleet, batch, async (name) => {
    await fleet.apply(fleet.hub, benchDeployment(name, spread, replicas));
    await fleet.hubSeen.ready(name, ready);
  });
}

/** The same objects, one in each of `members`, applied at these themselves. */
export function applyBatchByHand(fleet: FleetUnderTest, members: readonly Member[], batch: Batch): Promise<BatchCost> {
  return measureBatch(fleet, batch, async (name) => {
    await Promise.all(members.map(({ client }) => fleet.apply(client, benchDeployment(name, 'nowhere'))));
    await Promise.all(members.map(({ seen }) => seen.ready(name, 1)));
  });
}

function measureBatch(
  fleet: FleetUnderTest,
  { count, idle, signal }: Batch,
  place: (name: string) => Promise<void>,
): Promise<BatchCost> {
  return billed(fleet, { count, idle, signal }, () => inTurns(count, AT_ONCE, () => place(fleet.newName())));
}

/** Does a thing so often, so many of them at once. */
export async function inTurns(count: number, atOnce: number, task: () => Promise<void>): Promise<void> {
  let left = count;
  const worker = async (): Promise<void> => {
    while (left-- > 0) await task();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** What `work` costs until all that follows it is done; `count` is how many Deployments it places. */
export async function billed(
  fleet: BilledFleet,
  { count, idle, signal }: Batch,
  work: () => Promise<void>,
): Promise<BatchCost> {
  const requests = await fleet.requestCounts();
  const revision = await fleet.revision();
  const cpu = fleet.cpu();
  const started = performance.now();
  await work();
  await delay(SETTLE_MS, undefined, { signal });
  const seconds = (performance.now() - started) / 1000;
  const used = fleet.cpu();
  return {
    deployments: count,
    cpu: mapCpu(used, (total, name) => Math.max(total - cpu[name] - idle[name] * seconds, 0)),
    requests: subtractCounts(await fleet.requestCounts(), requests),
    revisions: (await fleet.revision()) - revision,
  };
}

function mapCpu(cpu: CpuByProcess, change: (value: number, name: FleetProcess) => number): CpuByProcess {
  return {
    hub: change(cpu.hub, 'hub'),
    members: change(cpu.members, 'members'),
    agents: change(cpu.agents, 'agents'),
  };
}
