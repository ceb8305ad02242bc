import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeMany } from './placing/many-objects.ts';
import { rollOutUnderKills } from './placing/killed-rollout.ts';
import { seededRandom } from './seeded-random.ts';

const MINUTES = Number(process.env['ASTERISM_SOAK_MINUTES'] ?? 10);
const WORKLOADS = 200;
/** In ten minutes: while all comes, in each of the rounds of changes, and while all goes. */
const KILLS = [14, ...Array<number>(10).fill(3), 6];
const SETTLED_MS = 240_000;
const OBJECTS = 5_000;

/** As many rounds as the time allows, the first and the last always. */
function killsOfRounds(): number[] {
  const [first = 0, ...rest] = KILLS;
  const last = rest.pop() ?? 0;
  return [first, ...rest.slice(0, Math.round((rest.length * MINUTES) / 10)), last];
}

const kills = killsOfRounds();
const total = kills.reduce((sum, count) => sum + count, 0);

test(`a rollout of ${WORKLOADS} workloads over 5 clusters, the hub killed (-9) ${total} times: it ends as wanted, nothing doubled, nothing lost`, {
  timeout: 60 * 60_000,
}, async (t) => {
  const outcome = await rollOutUnderKills(t, {
    random: seededRandom(t),
    workloads: WORKLOADS,
    namespaces: 4,
    kills,
    settledMs: SETTLED_MS,
  });
  assert.equal(outcome.kills, total);
  assert.ok(
    outcome.between >= (total * 3) / 5,
    `${outcome.between} of ${total} kills were in the midst of writes to members`,
  );
  // What was done and not yet told when the hub died is asked for once more; not what was told.
  assert.ok(outcome.requests < 2 * outcome.writes, `${outcome.requests} requests for ${outcome.writes} writes`);
});

test(`${OBJECTS} objects under one policy: placed, moved, removed`, { timeout: 60 * 60_000 }, async (t) => {
  const random = seededRandom(t);
  await placeMany(t, OBJECTS, { killedAt: 0.1 + 0.8 * random(), settledMs: 4 * SETTLED_MS });
});
