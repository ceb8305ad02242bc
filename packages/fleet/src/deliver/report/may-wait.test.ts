import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mayWait, type News, type Standing } from './may-wait.ts';

const healthy: Standing = { applied: true, health: 'Healthy' };
const unhealthy: Standing = { applied: true, health: 'Unhealthy' };
const refused = (message: string): Standing => ({ applied: false, health: 'Unknown', message });
const says = (type: string, status: string): Standing => ({
  ...unhealthy,
  status: { conditions: [{ type, status }] },
});
const news = (told: Standing | undefined, now: Standing, changing = true): News => ({
  told,
  now,
  changing,
});

describe('mayWait', () => {
  const rows: [name: string, news: News[], expected: boolean][] = [
    ['nothing is placed', [], false],
    ['W1 all do what they are for', [news(undefined, healthy), news(unhealthy, healthy)], false],
    ['a rollout that begins', [news(undefined, unhealthy)], true],
    ['a change that begins', [news(healthy, unhealthy)], true],
    ['a rollout that goes on', [news(unhealthy, unhealthy, false)], true],
    ['one is done, another is not', [news(undefined, healthy), news(undefined, unhealthy)], true],
    ['W2 one is refused, and another rolls out', [news(undefined, refused('no')), news(undefined, unhealthy)], false],
    ['W2 refused for another reason', [news(refused('no'), refused('never')), news(unhealthy, unhealthy)], false],
    ['a refusal that was told, and a rollout', [news(refused('no'), refused('no')), news(unhealthy, unhealthy)], true],
    ['a refusal alone', [news(refused('no'), refused('no'))], false],
    ['W2 a rollout gives up', [news(unhealthy, says('Progressing', 'False')), news(undefined, unhealthy)], false],
    ['W2 pods cannot be made', [news(unhealthy, says('ReplicaFailure', 'True')), news(undefined, unhealthy)], false],
    [
      'W2 a pod has failed',
      [news(unhealthy, { ...unhealthy, status: { phase: 'Failed' } }), news(unhealthy, unhealthy)],
      false,
    ],
    [
      'W2 a controller says that it is stalled',
      [news(unhealthy, says('Stalled', 'True')), news(undefined, unhealthy)],
      false,
    ],
    ['a controller that cannot tell yet', [news(undefined, { applied: true, health: 'Unknown' })], true],
    ['a rollout says that it goes on', [news(unhealthy, says('Progressing', 'True'))], true],
    ['W3 what worked does no more', [news(healthy, unhealthy, false)], false],
    ['W3 while another rolls out', [news(healthy, unhealthy, false), news(unhealthy, unhealthy, false)], false],
  ];
  for (const [name, given, expected] of rows) test(name, () => assert.equal(mayWait(given), expected));
});
