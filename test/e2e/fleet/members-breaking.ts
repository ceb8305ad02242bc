import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { Client } from '@asterism/client';
import { CONFIG_MAPS } from '@asterism/machinery';
import { Fleet, unlessFleet } from '../../cluster/fleet.ts';
import { absences, type Breakage, BreakingFleet, kills } from '../../cluster/fleet-breaking.ts';
import type { FleetHub } from '../../cluster/fleet-hub.ts';
import { assertContainersReached, assertPlaced, rollOutDemo, SETTINGS } from '../../cluster/fleet-scenario.ts';
import { afterChanges, type FleetState, readFleetState } from '../../cluster/fleet-state.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import { seededRandom } from '../../soak/seeded-random.ts';

const AWAY_MS = 30_000;

/** A fleet that breaks, whichever way the hub is run; it ends in the wanted state, with nothing doubled or written by it. */
export function membersBreaking(title: string, startHub: (run: RunFolder) => Promise<FleetHub>): void {
  describe(title, { skip: unlessFleet() }, () => {
    const parts = new AsyncDisposableStack();
    let fleet: Fleet;
    let state: FleetState;
    let breaking: BreakingFleet | undefined;

    before(async () => {
      const run = parts.use(await RunFolder.open());
      fleet = parts.use(await Fleet.start(run, startHub));
      await rollOutDemo(fleet);
      state = await readFleetState(fleet);
    });

    after(() => parts.disposeAsync());

    const survive = async (t: TestContext, breakages: readonly Breakage[]): Promise<void> => {
      breaking ??= new BreakingFleet(fleet, seededRandom(t));
      for (const breakage of breakages) {
        const begin = Date.now();
        await breaking.survive(breakage);
        t.diagnostic(`${breakage.name}: ${Date.now() - begin} ms`);
        assert.deepEqual(await readFleetState(fleet), afterChanges(state, breaking.changes), breakage.name);
      }
    };

    test('agents, hub, API servers and etcds killed (-9) and started again', (t) => survive(t, kills(fleet)));

    test(`the tunnel's path cut, and a member frozen, each for ${AWAY_MS / 1000} s`, async (t) => {
      const [cut, frozen] = absences(fleet, AWAY_MS);
      assert.ok(cut && frozen);
      const mend = async (): Promise<void> => {
        const there = await roundOf(fleet.cedar.controlPlane.client);
        await cut.mend();
        assert.notEqual(there, await roundOf(fleet.client), 'what was cut off heard of no change');
      };
      await survive(t, [{ ...cut, mend }, frozen]);
    });

    test('afterwards all of it works as before', async () => {
      await assertPlaced(fleet);
      await assertContainersReached(fleet, fleet.cedar);
    });
  });
}

/** The settings as they stand there. */
async function roundOf(client: Client): Promise<string | undefined> {
  return (await client.resource(CONFIG_MAPS).get(SETTINGS)).data?.['round'];
}
