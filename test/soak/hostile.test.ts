import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedHub } from '../cluster/embedded-hub.ts';
import { RunFolder } from '../cluster/run-folder.ts';
import * as behaviours from '../e2e/hostile/behaviours.ts';
import { HostileFleet } from '../e2e/hostile/hostile-fleet.ts';
import { isDiscovery, isList, isWatch } from '../e2e/hostile/request-kinds.ts';
import { seededRandom } from './seeded-random.ts';

const MINUTES = Number(process.env['ASTERISM_SOAK_MINUTES'] ?? 4);
/** MiB that the hub may need more than at the start. */
const GROWTH = 600;
const SLOWEST_MS = 10_000;
const LONGEST_MS = 15_000;
const INDEXES = [
  [{ group: '', resources: ['configmaps'] }],
  [{ group: '', resources: ['*'] }],
  [{ group: '*', resources: ['*'] }],
];

const PLACES: [name: string, matches: (path: string) => boolean][] = [
  ['lists', isList],
  ['watches', isWatch],
  ['discovery', isDiscovery],
  ['health checks', (path) => /^\/(livez|readyz|version)/.test(path)],
  ['all requests', () => true],
];

test(`a member that misbehaves at random for ${MINUTES} minutes: the hub answers, stays small, and serves the other cluster`, {
  timeout: (MINUTES + 5) * 60_000,
}, async (t) => {
  const random = seededRandom(t);
  const kinds: [name: string, behaviour: () => behaviours.Behaviour][] = [
    ['endless answers', () => behaviours.endlessAnswer],
    ['endless lines', () => behaviours.endlessLine],
    ['endless pages', () => behaviours.endlessPages('ConfigMap', Math.floor(random() * 50_000))],
    ['one page again and again', () => behaviours.repeatedPage],
    ['trickle', () => behaviours.trickle],
    ['deep JSON', () => behaviours.deep],
    ['a bomb', () => bombs],
  ];
  const bombs = behaviours.bomb();
  await using run = await RunFolder.open();
  await using hub = await EmbeddedHub.start(run);
  await using fleet = await HostileFleet.start(hub);
  const before = await fleet.hubMemory();
  await fleet.setSpec({ searchShare: { maxBytes: 50_000_000 } });
  let rounds = 0;
  for (const end = Date.now() + MINUTES * 60_000; Date.now() < end; rounds++) {
    const chosen = choose(random, PLACES, 1 + Math.floor(random() * 2)).map(([place, matches]) => {
      const [[name, make] = ['', () => behaviours.trickle]] = choose(random, kinds, 1);
      return { name: `${name} to ${place}`, matches, behaviour: make() };
    });
    const [index = []] = choose(random, INDEXES, 1);
    const pause = random() * LONGEST_MS;
    fleet.hostile.behave = (path) => chosen.find(({ matches }) => matches(path))?.behaviour;
    const { slowestMs, mostMemory } = await fleet.watch(
      (async () => {
        await fleet.setSpec({ index });
        await delay(pause);
        await fleet.assertElmWorks();
      })(),
    );
    const what = chosen.map(({ name }) => name).join('; ');
    const grown = Math.round(mostMemory - before);
    t.diagnostic(`${what}: ${grown} MiB more; /livez within ${Math.round(slowestMs)} ms`);
    assert.ok(grown < GROWTH, `${what}: the hub grew by ${grown} MiB`);
    assert.ok(slowestMs < SLOWEST_MS, `${what}: /livez took ${slowestMs} ms`);
  }
  t.diagnostic(`${rounds} rounds`);
  fleet.hostile.behave = () => undefined;
  await fleet.assertElmWorks();
});

/** `count` of them, each once. */
function choose<T>(random: () => number, from: readonly T[], count: number): T[] {
  const left = [...from];
  return Array.from({ length: count }, () => left.splice(Math.floor(random() * left.length), 1)).flat();
}
