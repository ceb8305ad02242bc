import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { findCondition } from '@asterism/machinery';
import type { FleetHub } from '../../cluster/fleet-hub.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import * as behaviours from './behaviours.ts';
import { HostileFleet, type Seen } from './hostile-fleet.ts';
import { isDiscovery, isList, isWatch } from './request-kinds.ts';

/** MiB that the hub may need more while a member is hostile. Before answers were bounded it needed thousands. */
const GROWTH = 500;
/** How long `/livez` of somebody else may take meanwhile, in ms. */
const PATIENCE_MS = 5_000;
const CONFIG_MAPS = /^\/api\/v1\/configmaps\?/;
/** For how long each hostility goes on, in ms. */
const HOSTILE_MS = 3_000;
const MAPS = [{ group: '', resources: ['configmaps'] }];
const MANY = [
  { group: '', resources: ['configmaps', 'pods', 'services', 'endpoints', 'serviceaccounts', 'namespaces', 'nodes'] },
  { group: 'apps', resources: ['*'] },
];

/** What the hub is sent, and for which requests. */
type Hostility = [name: string, matches: (path: string) => boolean, behaviour: behaviours.Behaviour];

const HOSTILITIES: Hostility[] = [
  ['lists of every kind that never end', isList, behaviours.endlessAnswer],
  ['discovery and OpenAPI that never end', isDiscovery, behaviours.endlessAnswer],
  ['watches of lines that never end', isWatch, behaviours.endlessLine],
  ['a list of JSON that is nested eight million times', isList, behaviours.deep],
  ['a list that is small until it is decompressed', isList, behaviours.bomb()],
  ['a list that repeats its continue token', isList, behaviours.repeatedPage],
];

/** A member whose API server is hostile: the hub and the other clusters go on. */
export function hostileMember(startHub: (run: RunFolder) => Promise<FleetHub>): void {
  let parts: AsyncDisposableStack;
  let fleet: HostileFleet;
  let beforeMiB = 0;

  before(async () => {
    parts = new AsyncDisposableStack();
    const run = parts.use(await RunFolder.open());
    fleet = parts.use(await HostileFleet.start(parts.use(await startHub(run))));
    beforeMiB = await fleet.hubMemory();
  });

  after(() => parts.disposeAsync());

  /** The hub stays small and answers, and the other cluster goes on, while the member behaves so. */
  function outlast([name, matches, behaviour]: Hostility): void {
    test(`${name}: the hub stays small, and the other cluster goes on`, async (t) => {
      await fleet.forgetIndex();
      fleet.hostile.answers = 0;
      fleet.hostile.behave = (path) => (matches(path) ? behaviour : undefined);
      const seen = await fleet.watch(
        (async () => {
          await fleet.setSpec({ index: MANY });
          await fleet.until('the member was asked', () => Promise.resolve(fleet.hostile.answers > 0));
          await delay(HOSTILE_MS);
          await fleet.assertElmWorks();
        })(),
      );
      fleet.hostile.behave = () => undefined;
      t.diagnostic(`${fleet.hostile.answers} hostile answers`);
      assertSmall(t, seen);
    });
  }

  function assertSmall(t: TestContext, { slowestMs, mostMemory }: Seen): void {
    const grown = Math.round(mostMemory - beforeMiB);
    t.diagnostic(
      `memory ${Math.round(beforeMiB)} MiB, then at most ${grown} more; /livez within ${Math.round(slowestMs)} ms`,
    );
    assert.ok(grown < GROWTH, `the hub grew by ${grown} MiB`);
    assert.ok(slowestMs < PATIENCE_MS, `/livez took ${slowestMs} ms`);
  }

  for (const hostility of HOSTILITIES) outlast(hostility);

  test('pages that never end: the cluster gets a condition at its share, search goes on, and a larger share mends it', async (t) => {
    await fleet.forgetIndex();
    fleet.hostile.behave = (path) => (CONFIG_MAPS.test(path) && isList(path) ? pages : undefined);
    const pages = behaviours.endlessPages('ConfigMap');
    const seen = await fleet.watch(
      (async () => {
        await fleet.setSpec({ index: MAPS, searchShare: { maxBytes: 20_000_000 } });
        await fleet.until('oak has the condition', async () => {
          const { status } = await fleet.cluster('oak');
          return findCondition(status?.conditions, 'SearchWithinShare')?.status === 'False';
        });
        await fleet.assertElmWorks();
      })(),
    );
    const condition = findCondition((await fleet.cluster('oak')).status?.conditions, 'SearchWithinShare');
    assert.equal(condition?.reason, 'ShareExceeded');
    assert.match(
      condition?.message ?? '',
      /^search does not keep all of configmaps: .*20000000 bytes.*spec\.searchShare/,
    );
    assert.equal(findCondition((await fleet.cluster('elm')).status?.conditions, 'SearchWithinShare'), undefined);
    assertSmall(t, seen);
    fleet.hostile.behave = () => undefined;
    await fleet.setSpec({ searchShare: { maxBytes: 100_000_000 } });
    await fleet.until('the condition is True', async () => {
      const { status } = await fleet.cluster('oak');
      return findCondition(status?.conditions, 'SearchWithinShare')?.status === 'True';
    });
  });

  outlast(['answers that trickle', (path) => isList(path) || isDiscovery(path), behaviours.trickle]);
}
