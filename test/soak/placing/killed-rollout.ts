import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@asterism/client';
import { isNotFound, isStatusError, type KubeObject, NAMESPACES } from '@asterism/machinery';
import { Draw } from '../draw.ts';
import { differences } from './differences.ts';
import { expected, isSettingsOf, isShared, type Known } from './expected.ts';
import { type HubView, knownBy, viewHub } from './hub-view.ts';
import { drawMoments, Kills } from './kills.ts';
import { isPlacedOnly, requestsForPlaced } from './member-requests.ts';
import { MemberHistory } from './member-history.ts';
import { PlacingFleet } from './placing-fleet.ts';
import { type Change, type Operation, Rollout, type Wish } from './rollout.ts';

const MEMBERS = 5;
const LANES_OF_USER = 4;
const LOOK_MS = 500;
const RETRY_MS = 100;

export interface KilledRolloutOptions {
  random: () => number;
  workloads: number;
  namespaces: number;
  /** In each round; the first is that in which all comes, the last that in which all goes. */
  kills: readonly number[];
  /** Within which each round must have ended. */
  settledMs: number;
}

/** What is to be asserted of a run beside what each round asserts by itself. */
export interface KilledRolloutOutcome {
  kills: number;
  /** Between the first and the last write of their round to a member. */
  between: number;
  /** To ConfigMaps and Services in members, by which something changed. */
  writes: number;
  /** That hub and agents have made for them. */
  requests: number;
}

/**
 * A rollout of workloads over five clusters, round after round, while the hub is killed (-9). After each round:
 *
 * K1  the members hold exactly what is wanted, worked out without the hub (see `expected`), and nothing more that is ours;
 * K2  the hub holds a binding for each template that is placed and a Work for each of its clusters, none besides, and its statuses
 *     are settled: all is applied, and a template tells the sum of what its members tell;
 * K3  what the round did not concern was written nowhere, and what it did, not more often than it had to be: a Work that was done
 *     before a kill is not done again, nothing is removed to be made anew.
 */
export async function rollOutUnderKills(
  t: TestContext,
  { random, workloads, namespaces, kills, settledMs }: KilledRolloutOptions,
): Promise<KilledRolloutOutcome> {
  await using fleet = await PlacingFleet.start(MEMBERS);
  await using history = new MemberHistory(fleet.members);
  const names = Array.from({ length: namespaces }, (_, index) => `team-${index}`);
  for (const name of names) await fleet.client.resource(NAMESPACES).create({ metadata: { name } });
  const draw = new Draw(random);
  const rollout = new Rollout(draw, {
    workloads,
    namespaces: names,
    clusters: fleet.members.map(({ name }) => name),
    regions: [...new Set(fleet.members.map(({ region }) => region))],
  });
  const killing = new Kills(fleet, history);
  const rounds = new Rounds({ fleet, history, rollout, killing, names, settledMs });
  for (const [index, count] of kills.entries()) {
    const before = rollout.now();
    const changes = index === 0 ? rollout.begin() : index === kills.length - 1 ? rollout.end() : rollout.next();
    const moments = drawMoments(draw, count, rounds.writesFor(before, rollout));
    const told = await rounds.run(changes, moments).catch(async (error: unknown) => {
      await fleet.keepLogs();
      throw error;
    });
    t.diagnostic(`round ${index}: ${changes.length} changes, ${told}`);
  }
  t.diagnostic(`${killing.all} kills, ${killing.between} of them between the first and the last write of a round`);
  const writes = rounds.writesToPlaced;
  const requests = await requestsForPlaced(fleet.members);
  t.diagnostic(`${requests} requests of hub and agents for ${writes} writes to ConfigMaps and Services`);
  return { kills: killing.all, between: killing.between, writes, requests };
}

interface RoundsContext {
  fleet: PlacingFleet;
  history: MemberHistory;
  rollout: Rollout;
  killing: Kills;
  names: readonly string[];
  settledMs: number;
}

class Rounds {
  /** In all rounds, of the objects that only the hub and agents write. */
  writesToPlaced = 0;
  readonly #context: RoundsContext;
  #last: HubView = { bindings: new Map(), works: [], clusterBindings: 0, templates: new Map() };

  constructor(context: RoundsContext) {
    this.#context = context;
  }

  /** About how many writes to members lie between the one state and the other. */
  writesFor(before: Wish, after: Wish): number {
    const { fleet } = this.#context;
    const known = knownBy(this.#last);
    const guessed: Known = {
      ...known,
      shares: (key) => known.shares(key) ?? new Map([[fleet.members[0]?.name ?? '', 1]]),
    };
    const [from, to] = [before, after].map((wish) => textsOf(expected(wish, fleet.members, guessed).objects));
    assert.ok(from && to);
    const changed = [...to].filter(([id, text]) => from.get(id) !== text).length;
    return changed + [...from.keys()].filter((id) => !to.has(id)).length;
  }

  /** Asks for the changes, kills meanwhile, and asserts what must hold when all is settled. Tells how that went. */
  async run(changes: readonly Change[], moments: Parameters<Kills['happen']>[0]): Promise<string> {
    const { fleet, history, killing } = this.#context;
    const began = performance.now();
    history.beginRound();
    const asking = ask(fleet.client, changes);
    const quiet = async (signal: AbortSignal): Promise<void> => {
      await asking;
      await this.#settled(signal);
    };
    await Promise.all([asking, killing.happen(moments, quiet)]);
    await this.#settled(AbortSignal.timeout(this.#context.settledMs));
    killing.endRound();
    for (const [id, { writes }] of history.round()) if (isPlacedOnly(keyIn(id))) this.writesToPlaced += writes;
    assertWrittenOnce(changes, history);
    const seconds = Math.round((performance.now() - began) / 1000);
    return `${history.writes} writes to members, ${moments.length} kills, settled after ${seconds} s`;
  }

  /** Resolves when nothing differs, rejects with what does when the signal aborts. */
  async #settled(signal: AbortSignal): Promise<void> {
    const { fleet, history, names, rollout } = this.#context;
    for (let faults: readonly string[] = ['the hub does not answer']; ; ) {
      if (signal.aborted) throw new Error(`not settled:\n${faults.slice(0, 40).join('\n')}\n${faults.length} in all`);
      try {
        this.#last = await viewHub(fleet.client, names);
        faults = differences(rollout, { members: fleet.members, history }, this.#last);
        if (faults.length === 0) return;
      } catch (error) {
        faults = [String(error)];
      }
      await delay(LOOK_MS, undefined, { signal }).catch(() => {});
    }
  }
}

function textsOf(objects: ReadonlyMap<string, ReadonlyMap<string, KubeObject>>): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [cluster, present] of objects) {
    for (const [key, object] of present) texts.set(`${cluster}: ${key}`, JSON.stringify(object));
  }
  return texts;
}

/** The user: several changes at once, each until the hub has taken it. */
async function ask(client: Client, changes: readonly Change[]): Promise<void> {
  const left = [...changes];
  const lane = async (): Promise<void> => {
    for (let change = left.shift(); change; change = left.shift()) {
      for (const operation of change.operations) await untilTaken(client, operation, change.what);
    }
  };
  await Promise.all(Array.from({ length: LANES_OF_USER }, lane));
}

async function untilTaken(client: Client, operation: Operation, what: string): Promise<void> {
  for (;;) {
    try {
      return await perform(client, operation);
    } catch (error) {
      // A hub that is away answers nothing, one that is on its way 5xx; what it refuses is a mistake of this test.
      if (isStatusError(error) && error.code < 500 && error.code !== 409 && error.code !== 429) {
        throw new Error(`${what}: ${error.message}`, { cause: error });
      }
      await delay(RETRY_MS);
    }
  }
}

/** Deleted is what is gone, as for `kubectl delete`: what goes still (a Job's default is to orphan first) would take a new one's place. */
async function perform(client: Client, operation: Operation): Promise<void> {
  const object = 'apply' in operation ? operation.apply : operation.delete;
  const resource = client.resource(await client.discovery.typeFor(object));
  if ('apply' in operation) {
    await resource.apply(object, { fieldManager: 'user', force: true });
    return;
  }
  const { name = '', namespace } = object.metadata ?? {};
  try {
    await resource.delete({ namespace, name });
    for (;;) {
      await resource.get({ namespace, name });
      await delay(RETRY_MS);
    }
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function assertWrittenOnce(changes: readonly Change[], history: MemberHistory): void {
  const faults = [...history.round()].flatMap(([id, { writes, uids }]) => {
    const key = keyIn(id);
    const most = Math.max(0, ...changes.map((change) => writesTo(key, change)));
    return writes <= most ? [] : [`${id}: written ${writes} times, ${most} at most; ${uids.size} times made anew`];
  });
  assert.deepEqual(faults, [], 'written more often than the changes of this round can be the reason of');
}

/** Of `cluster: key`. */
function keyIn(id: string): string {
  return id.slice(id.indexOf(': ') + 2);
}

/** How many writes to an object a change is reason for. */
function writesTo(key: string, { namespace, workload, writes }: Change): number {
  if (!key.includes(` ${namespace}/`)) return 0;
  // What several need comes and goes with each of them.
  if (isShared(key)) return Infinity;
  const concerns = !workload || key === `${workload.kind} ${namespace}/${workload.name}` || isSettingsOf(key, workload);
  return concerns ? writes : 0;
}
