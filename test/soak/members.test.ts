import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '@asterism/client/testing';
import { Fleet, unlessFleet } from '../cluster/fleet.ts';
import { absences, type Breakage, BreakingFleet, kills } from '../cluster/fleet-breaking.ts';
import { EmbeddedHub } from '../cluster/embedded-hub.ts';
import { assertContainersReached, assertFound, assertPlaced, rollOutDemo } from '../cluster/fleet-scenario.ts';
import { afterChanges, readFleetState } from '../cluster/fleet-state.ts';
import { RunFolder } from '../cluster/run-folder.ts';
import { seededRandom } from './seeded-random.ts';

const MINUTES = 10;
const LONGEST_ABSENCE_MS = 45_000;

test(`real members for ${MINUTES} minutes: processes killed (-9), cut off and frozen, up to three at once, while changes go on`, {
  skip: unlessFleet(),
}, async (t) => {
  const random = seededRandom(t);
  await using run = await RunFolder.open();
  await using fleet = await Fleet.start(run, (folder) => EmbeddedHub.start(folder));
  await rollOutDemo(fleet);
  const before = await readFleetState(fleet);
  const breaking = new BreakingFleet(fleet, random);
  for (const end = Date.now() + MINUTES * 60_000; Date.now() < end; ) {
    const chosen = choose(
      [...kills(fleet), ...absences(fleet, random() * LONGEST_ABSENCE_MS)],
      1 + Math.floor(random() ** 2 * 3),
      random,
    );
    const names = chosen.map(({ name }) => name).join('; ');
    const begin = Date.now();
    await breaking.survive(...chosen);
    t.diagnostic(`${names}: ${Date.now() - begin} ms`);
    assert.deepEqual(await readFleetState(fleet), afterChanges(before, breaking.changes), names);
  }
  t.diagnostic(`${breaking.changes} rounds`);
  await assertPlaced(fleet);
  await until(() => assertFound(fleet));
  await assertContainersReached(fleet, fleet.cedar);
});

/** `count` of them, each once. */
function choose(from: readonly Breakage[], count: number, random: () => number): Breakage[] {
  const left = [...from];
  return Array.from({ length: count }, () => left.splice(Math.floor(random() * left.length), 1)).flat();
}
