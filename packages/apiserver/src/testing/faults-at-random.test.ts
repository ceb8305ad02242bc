import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, createTransport } from '@asterism/client';
import { CONFIG_MAPS } from '@asterism/machinery';
import type { AnswerFault, RequestFault } from './fault.ts';
import type { Faults } from './faults.ts';
import { FollowedConfigMaps } from './followed-config-maps.ts';
import { startTestServer } from './test-server.ts';

const ROUNDS = 60;
const SEEDS = [1, 42, 100];

const OF_ANSWERS: AnswerFault[] = [
  { kind: 'end' },
  { kind: 'error-event', code: 410 },
  { kind: 'error-event', code: 500 },
  { kind: 'half-frame' },
  { kind: 'half-frame', ending: 'end' },
  { kind: 'reset' },
  { kind: 'silence' },
  { kind: 'slow-reader', bytesPerSecond: 1_000 },
];
const OF_REQUESTS: RequestFault[] = [
  ...OF_ANSWERS,
  { kind: 'lost-answer' },
  { kind: 'status', code: 410 },
  { kind: 'status', code: 429 },
  { kind: 'status', code: 500 },
  { kind: 'status', code: 503, retryAfterSeconds: 2 },
];

/** One fault, or a few of one kind; returns what ends it. */
async function misbehave(
  faults: Faults,
  followed: FollowedConfigMaps,
  pick: (below: number) => number,
): Promise<() => void> {
  switch (pick(8)) {
    case 0:
      faults.resetConnections();
      return () => {};
    case 1:
      faults.goAway({ hangUp: pick(2) === 0 });
      return () => {};
    case 2:
      faults.compact();
      return () => {};
    case 3: {
      const { lift } = faults.freeze();
      await followed.failed(followed.errors.length + pick(3));
      return lift;
    }
    case 4:
    case 5: {
      const struck = await faults.strike(OF_ANSWERS[pick(OF_ANSWERS.length)]!);
      return () => struck.lift();
    }
    default: {
      const injected = faults.inject(OF_REQUESTS[pick(OF_REQUESTS.length)]!, {}, { times: 1 + pick(3) });
      return () => injected.lift();
    }
  }
}

for (const seed of SEEDS) {
  test(`whatever befalls its server, a watcher ends up with what the server has (seed ${seed})`, {
    timeout: 30_000,
  }, async () => {
    let state = seed;
    const pick = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return (state >>> 8) % below;
    };
    await using server = await startTestServer({ faults: true, controllers: false });
    await using transport = createTransport(server.connection, {
      pingIdleMs: 20,
      pingTimeoutMs: 20,
      connectTimeoutMs: 50,
    });
    await using followed = new FollowedConfigMaps(createClient({ transport }));
    const configMaps = server.inside.resource(CONFIG_MAPS);
    const values: Record<string, string> = {};
    for (let round = 0; round < ROUNDS; round++) {
      const lift = await misbehave(server.faults, followed, pick);
      const name = `c${pick(5)}`;
      if (name in values && pick(3) === 0) {
        await configMaps.delete({ namespace: 'default', name });
        delete values[name];
      } else {
        values[name] = String(round);
        const object = { metadata: { name, namespace: 'default' }, data: { value: values[name] } };
        await configMaps.apply(object, { fieldManager: 'test', force: true });
      }
      lift();
      if (pick(3) === 0) await followed.have(values);
    }
    await followed.have(values);
    assert.notEqual(followed.errors.length, 0, 'nothing befell it');
  });
}
