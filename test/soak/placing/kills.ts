import { watch } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Draw } from '../draw.ts';
import type { MemberHistory } from './member-history.ts';
import type { PlacingFleet } from './placing-fleet.ts';

/** A start of a hub on a folder that is there changes files some hundred times before it is ready. */
const CHANGES_OF_A_START = 300;
/** What a hub that is dead has written is seen by then, and one that was just started has written nothing yet. */
const LAST_NEWS_MS = 200;

/** When a hub is killed: after so many of the round's writes to members, or so early in its own start. */
export type Moment = { writes: number } | { changesOfFiles: number };

/** Most of them between the first and the last of the writes that a round is to take; the others while the hub starts. */
export function drawMoments(draw: Draw, count: number, writes: number): Moment[] {
  const between = Array.from({ length: count }, () => ({ writes: draw.int(1, Math.max(1, writes - 1)) }));
  const inOrder: Moment[] = between.toSorted((a, b) => a.writes - b.writes);
  return inOrder.map((moment, index) =>
    index > 0 && draw.chance(0.2) ? { changesOfFiles: draw.int(1, CHANGES_OF_A_START) } : moment,
  );
}

/** Kills the hub and starts it again, and knows how often that was in the midst of its work. */
export class Kills {
  readonly #fleet: PlacingFleet;
  readonly #history: MemberHistory;
  /** Of each kill, how many writes of the round were seen before it. */
  #ofRound: number[] = [];
  all = 0;
  /** Between the first and the last write of a round to a member. */
  between = 0;

  constructor(fleet: PlacingFleet, history: MemberHistory) {
    this.#fleet = fleet;
    this.#history = history;
  }

  /** Kills at one moment after the other; the rest without waiting when `quiet` resolves, for then nothing more will be written. */
  async happen(moments: readonly Moment[], quiet: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const over = new AbortController();
    const calm = quiet(over.signal);
    try {
      for (const moment of moments) {
        await Promise.race([this.#comes(moment, over.signal), calm]);
        await this.#kill();
      }
    } finally {
      over.abort();
      await calm.catch(() => {});
    }
  }

  /** After a round: what came after the last kills is known. */
  endRound(): void {
    const { writes } = this.#history;
    this.between += this.#ofRound.filter((before) => before > 0 && before < writes).length;
    this.#ofRound = [];
  }

  async #comes(moment: Moment, signal: AbortSignal): Promise<void> {
    // A hub that has just been started has written once more before it is killed again.
    if ('writes' in moment) return this.#history.reached(Math.max(moment.writes, this.#history.writes + 1), signal);
    let left = moment.changesOfFiles;
    try {
      for await (const _ of watch(this.#fleet.dataDir, { recursive: true, signal })) if (--left <= 0) return;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #kill(): Promise<void> {
    await this.#fleet.daemon.kill();
    this.all += 1;
    await delay(LAST_NEWS_MS);
    this.#ofRound.push(this.#history.writes);
    await this.#fleet.daemon.start();
  }
}
