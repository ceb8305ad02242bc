import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { ClientError } from '@asterism/client';
import { ManualClock } from '@asterism/client/testing';
import { conflict } from '@asterism/machinery';
import type { Cluster } from '../cluster/cluster.ts';
import { actInClusters, type ClusterOutcome, throwFailure } from './act-in-clusters.ts';

let clock: ManualClock;
let leaving: AbortController;
let ending: AbortController;
let clusters: Cluster[];

beforeEach(() => {
  clock = new ManualClock();
  leaving = new AbortController();
  ending = new AbortController();
  const never = new AbortController().signal;
  clusters = ['paris', 'lyon'].map((name) => ({ name, signal: name === 'paris' ? leaving.signal : never }) as Cluster);
});

/** Paris does that, Lyon answers. */
function act(paris: (signal: AbortSignal) => Promise<string>): Promise<ClusterOutcome<string>[]> {
  const options = { signal: ending.signal, clock, timeoutMs: 100 };
  return actInClusters(clusters, async ({ name }, signal) => (name === 'paris' ? await paris(signal) : name), options);
}
const lyon = { cluster: 'lyon', outcome: 'done', value: 'lyon' };

describe('an act in many clusters', () => {
  const answers: { name: string; paris: () => Promise<string>; outcome: string }[] = [
    { name: 'a value', paris: async () => 'it', outcome: 'done' },
    {
      name: 'a refusal',
      paris: () => Promise.reject(conflict({ group: '', resource: 'pods' }, 'p', 'no')),
      outcome: 'failed',
    },
    {
      name: 'no answer',
      paris: () => Promise.reject(new ClientError('no', { code: 'ECONNREFUSED' })),
      outcome: 'silent',
    },
    {
      name: 'a request that could not be sent',
      paris: () => Promise.reject(new ClientError('no name', { code: 'ERR_INVALID_REQUEST' })),
      outcome: 'failed',
    },
    {
      name: 'a mistake in the code',
      paris: () => {
        throw new TypeError('no');
      },
      outcome: 'failed',
    },
  ];
  for (const { name, paris, outcome } of answers) {
    test(`${name} is ${outcome}, and nothing to the others`, async () => {
      const [first, second] = await act(paris);
      assert.deepEqual([first?.cluster, first?.outcome, second], ['paris', outcome, lyon]);
    });
  }

  test('one that does not answer in time is silent, though the act does not heed its signal', async () => {
    let told: unknown;
    const acting = act(async (signal) => {
      signal.addEventListener('abort', () => (told = signal.reason));
      return await new Promise<never>(() => {});
    });
    await new Promise(setImmediate);
    clock.advance(100);
    const [first, second] = await acting;
    assert.ok(first?.outcome === 'silent');
    assert.match(String(first.error), /cluster "paris" gave no answer within 100 ms/);
    assert.equal(told, first.error);
    assert.deepEqual(second, lyon);
  });

  test('one that leaves meanwhile is left out', async () => {
    const acting = act(() => new Promise<never>(() => {}));
    leaving.abort();
    assert.deepEqual(await acting, [lyon]);
  });

  test('it ends with its own signal, by its reason', async () => {
    const acting = act(() => new Promise<never>(() => {}));
    ending.abort(new Error('the manager stops'));
    await assert.rejects(acting, /the manager stops/);
  });

  test('its first failure is thrown; that one is silent is none', () => {
    const [first, second] = [new Error('first'), new Error('second')];
    const silent = { cluster: 'a', outcome: 'silent', error: new Error('away') } as const;
    throwFailure([silent, { cluster: 'b', outcome: 'done', value: 1 }]);
    const failed = [first, second].map((error) => ({ cluster: 'c', outcome: 'failed', error }) as const);
    assert.throws(() => throwFailure([silent, ...failed]), first);
  });
});
