import { after, before, describe } from 'node:test';
import { EmbeddedHub } from '../embedded-hub.ts';
import { PlacingFleet, type PlacingFleetOptions, unlessPlacingFleet } from './placing-fleet.ts';

/** Describes tests that share one fleet. By default its hub is an embedded one, and `oak` joins in Push. */
export function describePlacing(
  title: string,
  { startHub = (run) => EmbeddedHub.start(run), oak = 'push', simulated }: Partial<PlacingFleetOptions>,
  tests: (fleet: () => PlacingFleet) => void,
): void {
  describe(title, { skip: unlessPlacingFleet() }, () => {
    let fleet: PlacingFleet;
    before(async () => {
      fleet = await PlacingFleet.start({ startHub, oak, simulated });
    });
    after(() => fleet?.[Symbol.asyncDispose]());
    tests(() => fleet);
  });
}
