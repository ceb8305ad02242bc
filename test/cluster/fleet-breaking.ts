import { setTimeout as delay } from 'node:timers/promises';
import { CONFIG_MAPS, type Deployment, DEPLOYMENTS } from '@asterism/machinery';
import type { Fleet, Member } from './fleet.ts';
import { DEMO, SETTINGS } from './fleet-scenario.ts';
import { untilExists } from './until-exists.ts';

/** Something that fails in a fleet, and is put right. */
export interface Breakage {
  name: string;
  /** Whose changes have to wait meanwhile; undefined where the hub itself is away. */
  victim?: 'alder' | 'cedar';
  /** How long it lasts at least, ms; else up to two seconds. */
  lastsMs?: number;
  break(): Promise<void> | void;
  mend(): Promise<void> | void;
}

const NAMES = ['alder', 'cedar'] as const;

/** Each process killed (-9) and started again: those of the hub, the agents, the members' API servers and etcds. */
export function kills({ hub, alder, cedar }: Fleet): Breakage[] {
  const members = { alder, cedar };
  return [
    ...hub.daemons.map((daemon) => ({
      name: `${daemon.name} killed`,
      break: () => daemon.kill(),
      mend: () => hub.startAgain(),
    })),
    ...NAMES.flatMap((victim) => {
      const { agent, controlPlane } = members[victim];
      return [agent, controlPlane.apiServer, controlPlane.etcd].map((daemon) => ({
        name: `${daemon.name} killed`,
        victim,
        break: () => daemon.kill(),
        mend: () => daemon.start(),
      }));
    }),
  ];
}

/** The tunnel's path cut, a member frozen: nothing is closed, nothing answers. */
export function absences({ alder, cedar, wayOut }: Fleet, lastsMs: number): Breakage[] {
  const members = { alder, cedar };
  return [
    {
      name: "the path of cedar's tunnel cut",
      victim: 'cedar',
      lastsMs,
      break: () => wayOut.cut(),
      mend: () => wayOut.restore(),
    },
    ...NAMES.map((victim) => ({
      name: `API server of ${victim} frozen`,
      victim,
      lastsMs,
      break: () => members[victim].controlPlane.apiServer.freeze(),
      mend: () => members[victim].controlPlane.apiServer.thaw(),
    })),
  ];
}

/** "Within a few seconds", on a machine that is busy with two clusters. */
const FEW_SECONDS_MS = 10_000;
const BETWEEN_CHANGES_MS = 4_000;
/** A watch that failed again within two minutes waits for up to a minute before it is tried anew, as client-go's do. */
const SETTLED_MS = 120_000;

/**
 * A fleet that things break in while it is changed.
 *
 * Each breakage comes at a random moment of a change to the Deployment that starts no pod anew. While a member is its victim,
 * changes to what is placed on both reach the other within a few seconds (B1). Put right, the change arrives everywhere (B2).
 */
export class BreakingFleet {
  readonly #fleet: Fleet;
  readonly #random: () => number;
  #changes = 0;
  #settings = 0;

  constructor(fleet: Fleet, random: () => number) {
    this.#fleet = fleet;
    this.#random = random;
  }

  /** How often the Deployment's spec was changed. */
  get changes(): number {
    return this.#changes;
  }

  /** All of these at once. Resolves when they are over, and what was changed meanwhile stands everywhere. */
  async survive(...breakages: readonly Breakage[]): Promise<void> {
    await this.#change();
    try {
      for (const breakage of breakages) {
        await delay(this.#random() * 700);
        await breakage.break();
      }
      const lastsMs = Math.max(...breakages.map((breakage) => breakage.lastsMs ?? this.#random() * 2_000));
      await this.#goOnAt(this.#unharmedBy(breakages), Date.now() + lastsMs);
    } finally {
      for (const breakage of breakages) await breakage.mend();
    }
    await this.settled();
  }

  #unharmedBy(breakages: readonly Breakage[]): readonly Member[] {
    if (breakages.some(({ victim }) => victim === undefined)) return [];
    return this.#fleet.members.filter(({ name }) => breakages.every(({ victim }) => victim !== name));
  }

  /** Once at least, and again and again until `end`. */
  async #goOnAt(members: readonly Member[], end: number): Promise<void> {
    while (members.length > 0) {
      await this.#changeSettings(members);
      if (Date.now() >= end) return;
      await delay(Math.min(BETWEEN_CHANGES_MS, Math.max(0, end - Date.now())));
    }
    await delay(Math.max(0, end - Date.now()));
  }

  /** Resolves when all members have what the hub says, and the hub knows that. */
  async settled(): Promise<void> {
    const { client, members } = this.#fleet;
    const bound = { timeoutMs: SETTLED_MS };
    const isDone = (replicas: number) => (deployment: Deployment) =>
      deployment.spec?.progressDeadlineSeconds === deadline(this.#changes) &&
      deployment.status?.observedGeneration === deployment.metadata?.generation &&
      deployment.status?.readyReplicas === replicas;
    await Promise.all([
      ...members.map((member) =>
        untilExists(member.controlPlane.client, DEPLOYMENTS, DEMO, isDone(DEMO.division[member.name]), bound),
      ),
      untilExists(client, DEPLOYMENTS, DEMO, isDone(DEMO.replicas), bound),
      this.#settingsIn(members, SETTLED_MS),
    ]);
  }

  async #change(): Promise<void> {
    this.#changes += 1;
    const body = { spec: { progressDeadlineSeconds: deadline(this.#changes) } };
    await this.#fleet.client.resource(DEPLOYMENTS).patch(DEMO, { type: 'merge', body });
  }

  async #changeSettings(members: readonly Member[]): Promise<void> {
    this.#settings += 1;
    const body = { data: { round: String(this.#settings) } };
    await this.#fleet.client.resource(CONFIG_MAPS).patch(SETTINGS, { type: 'merge', body });
    await this.#settingsIn(members, FEW_SECONDS_MS);
  }

  async #settingsIn(members: readonly Member[], timeoutMs: number): Promise<void> {
    const round = String(this.#settings);
    await Promise.all(
      members.map(({ controlPlane }) =>
        untilExists(controlPlane.client, CONFIG_MAPS, SETTINGS, ({ data }) => data?.['round'] === round, { timeoutMs }),
      ),
    );
  }
}

/** Within how many seconds a rollout is to go on: part of the spec, and no reason to start a pod anew. */
function deadline(changes: number): number {
  return 600 + changes;
}
