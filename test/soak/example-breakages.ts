import { setTimeout as delay } from 'node:timers/promises';
import type { ControlPlane } from '../cluster/control-plane.ts';
import { type ExampleClusters, restartCompacted } from '../examples/example-clusters.ts';
import type { ExampleOperator } from '../examples/example-operator.ts';
import type { Draw } from './draw.ts';

/** Something that happens to one cluster, or one operator, and is over when it resolves. */
export interface ExampleBreakage {
  name: string;
  happen(): Promise<void>;
}

const LATEST_START_MS = 5_000;
const LONGEST_FREEZE_MS = 60_000;
const LONGEST_STOP_MS = 15_000;
const LONGEST_LAPSE_MS = 8_000;

/** What may happen to the examples: to each cluster, and each operator, one thing at a time. */
export class ExampleBreakages {
  readonly #clusters: ExampleClusters;
  readonly #draw: Draw;
  /** The members that are there, with the user as whom the operators come; undefined: their administrator. */
  readonly #users = new Map<ControlPlane, string | undefined>();
  #count = 0;

  /** Of a fleet that nobody but `paris` has joined. */
  constructor(clusters: ExampleClusters, draw: Draw) {
    this.#clusters = clusters;
    this.#draw = draw;
    this.#users.set(clusters.paris, undefined);
  }

  /** The members that are there. */
  get members(): ControlPlane[] {
    return [...this.#users.keys()];
  }

  /** Those of the next round: at least one. */
  next(): ExampleBreakage[] {
    const { main, paris, lyon, operators } = this.#clusters;
    for (;;) {
      const chosen = [
        ...(this.#draw.chance(0.3) ? [this.#draw.pick(this.#ofServer(main))] : []),
        ...[paris, lyon].flatMap((member) => (this.#draw.chance(0.5) ? [this.#draw.pick(this.#ofMember(member))] : [])),
        ...operators.flatMap((operator) => (this.#draw.chance(0.3) ? [this.#killed(operator)] : [])),
      ];
      if (chosen.length > 0) return chosen;
    }
  }

  async join(member: ControlPlane): Promise<void> {
    const user = `operator-${++this.#count}`;
    await this.#clusters.join(member, user);
    this.#users.set(member, user);
  }

  #ofServer(cluster: ControlPlane): ExampleBreakage[] {
    const { name, apiServer } = cluster;
    const stopMs = this.#draw.int(0, LONGEST_STOP_MS);
    const freezeMs = this.#draw.int(1_000, LONGEST_FREEZE_MS);
    return [
      this.#breakage(`${name} killed for ${stopMs} ms`, async () => {
        await apiServer.kill();
        await delay(stopMs);
        await cluster.startAgain();
      }),
      this.#breakage(`${name} frozen for ${freezeMs} ms`, async () => {
        await apiServer.freeze();
        await delay(freezeMs);
        await apiServer.thaw();
      }),
      this.#breakage(`${name} compacted`, () => restartCompacted(cluster)),
    ];
  }

  #ofMember(member: ControlPlane): ExampleBreakage[] {
    const { name } = member;
    const added = this.#breakage(`${name} added`, () => this.join(member));
    if (!this.#users.has(member)) return [added];
    const lapseMs = this.#draw.int(0, LONGEST_LAPSE_MS);
    const removed = this.#breakage(`${name} removed`, () => this.#leave(member));
    const back = this.#breakage(`${name} removed and added after ${lapseMs} ms`, async () => {
      await this.#leave(member);
      await delay(lapseMs);
      await this.join(member);
    });
    return [...this.#ofServer(member), this.#rotated(member, lapseMs), this.#draw.chance(0.6) ? removed : back];
  }

  /** The old credentials end when the new ones are there, or before. */
  #rotated(member: ControlPlane, lapseMs: number): ExampleBreakage {
    const early = this.#draw.chance(0.5);
    const when = `${lapseMs} ms ${early ? 'too early' : 'later'}`;
    return this.#breakage(`credentials of ${member.name} rotated, the old ones end ${when}`, async () => {
      const old = this.#users.get(member);
      const end = async (): Promise<void> => {
        if (old !== undefined) await this.#clusters.dismiss(member, old);
      };
      if (early) await end();
      else await this.join(member);
      await delay(lapseMs);
      if (early) await this.join(member);
      else await end();
    });
  }

  #killed(operator: ExampleOperator): ExampleBreakage {
    const stopMs = this.#draw.int(0, LONGEST_STOP_MS);
    return this.#breakage(`${operator.name} killed, again there after ${stopMs} ms`, async () => {
      await operator.killLeader();
      await delay(stopMs);
      await operator.restartEnded();
    });
  }

  async #leave(member: ControlPlane): Promise<void> {
    const user = this.#users.get(member);
    await this.#clusters.leave(member);
    this.#users.delete(member);
    if (user !== undefined) await this.#clusters.dismiss(member, user);
  }

  #breakage(name: string, happen: () => Promise<void>): ExampleBreakage {
    const startMs = this.#draw.int(0, LATEST_START_MS);
    return { name, happen: () => delay(startMs).then(happen) };
  }
}
