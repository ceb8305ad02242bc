import assert from 'node:assert/strict';
import { test } from 'node:test';
import { casesOf } from '../growth/growth-cases.ts';
import { GrowthServer } from '../growth/growth-server.ts';
import { waysOf } from '../growth/growth-ways.ts';
import { GrownSender } from '../growth/send-grown.ts';
import { servedKinds } from '../growth/served-kinds.ts';
import { Draw } from './draw.ts';
import { seededRandom } from './seeded-random.ts';

const GROWTHS_OF_A_FIELD = 2;

test('every field of every kind, grown to 3 MiB, holds the server for less than 200 ms', {
  timeout: 60 * 60_000,
}, async (t) => {
  const draw = new Draw(seededRandom(t));
  const server = await GrowthServer.start();
  const kinds = await servedKinds(server);
  await using sender = new GrownSender(server);
  const known = new Set<string>();
  const faults: string[] = [];
  for (const kind of kinds) {
    const ways = waysOf(kind);
    const cases = casesOf(kind, (name) => known.has(name) || (known.add(name), false));
    for (const growths of cases) {
      for (let count = Math.min(GROWTHS_OF_A_FIELD, growths.length); count > 0; count -= 1) {
        const fault = await sender.fault({ ...draw.pick(growths), way: draw.pick(ways) });
        if (fault === undefined) continue;
        faults.push(fault);
        t.diagnostic(fault);
      }
    }
  }
  t.diagnostic(sender.summary());
  assert.deepEqual(faults, []);
});
