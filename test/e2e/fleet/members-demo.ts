import { after, before, describe, test } from 'node:test';
import { Fleet, unlessFleet } from '../../cluster/fleet.ts';
import type { FleetHub } from '../../cluster/fleet-hub.ts';
import {
  assertContainersReached,
  assertFound,
  assertJoined,
  assertNotDialable,
  assertPlaced,
  rollOutDemo,
} from '../../cluster/fleet-scenario.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import { eventually } from '../../demo/aster-up.ts';

/** The demo with two real members, whichever way the hub is run. */
export function membersDemo(title: string, startHub: (run: RunFolder) => Promise<FleetHub>): void {
  describe(title, { skip: unlessFleet() }, () => {
    const parts = new AsyncDisposableStack();
    let fleet: Fleet;

    before(async () => {
      const run = parts.use(await RunFolder.open());
      fleet = parts.use(await Fleet.start(run, startHub));
    });

    after(() => parts.disposeAsync());

    test('both are there: alder in Push, cedar in Pull with two real nodes', () =>
      eventually(() => assertJoined(fleet), 30_000));

    test('the hub cannot dial cedar', () => assertNotDialable(fleet));

    test('a Deployment goes to both, their controllers make its pods, and its status comes back', async () => {
      await rollOutDemo(fleet);
      await assertPlaced(fleet);
    });

    test('search finds the pods of both', () => eventually(() => assertFound(fleet)));

    test('logs and exec reach a container behind the tunnel', () => assertContainersReached(fleet, fleet.cedar));
  });
}
