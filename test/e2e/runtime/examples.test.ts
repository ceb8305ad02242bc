// Runs beside other tests: it waits while a cluster is frozen.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import { CONFIG_MAPS, isNotFound, JOBS, type KubeObject, PODS, type ResourceType, SECRETS } from '@asterism/machinery';
import { TESTS } from '../../../examples/multi-cluster-job/src/test-kind.ts';
import type { ControlPlane } from '../../cluster/control-plane.ts';
import { CONTROL_PLANE_BINARIES } from '../../cluster/control-plane.ts';
import { unlessNodes } from '../../cluster/node-assets.ts';
import { unlessThere } from '../../cluster/real-kubernetes.ts';
import { until } from '../../cluster/until.ts';
import { eventually } from '../../demo/aster-up.ts';
import { ExampleClusters, restartCompacted } from '../../examples/example-clusters.ts';
import { exampleTest, mirrored, NAMESPACE } from '../../examples/example-objects.ts';

const FROZEN_MS = 60_000;
/** The Lease's 15 s, and what a busy machine needs. */
const TAKEOVER_MS = 25_000;
const SECRET = { password: Buffer.from('hunter2').toString('base64') };

/** What is broken and mended meanwhile may delay things, and neither lose nor double any. */
describe('the examples of the runtime', {
  skip: unlessNodes() || unlessThere(...CONTROL_PLANE_BINARIES, 'kubectl-1.36'),
}, () => {
  const parts = new AsyncDisposableStack();
  let clusters: ExampleClusters;
  let main: ControlPlane;
  let paris: ControlPlane;
  let lyon: ControlPlane;

  before(async () => {
    clusters = parts.use(await ExampleClusters.start());
    ({ main, paris, lyon } = clusters);
  });
  after(() => parts.disposeAsync());

  /** A Test and a ConfigMap of that name. */
  const create = async (name: string): Promise<void> => {
    await main.client.resource(TESTS).create(exampleTest(name));
    await main.client.resource(CONFIG_MAPS).create(mirrored(name, { name }));
  };
  const remove = async (name: string): Promise<void> => {
    for (const type of [TESTS, CONFIG_MAPS]) await main.client.resource(type).delete({ namespace: NAMESPACE, name });
  };
  const isThere = async (where: ControlPlane, name: string): Promise<void> => {
    const ref = { namespace: NAMESPACE, name };
    await until(where.client, JOBS, ref, () => true);
    if (where !== main) await until(where.client, CONFIG_MAPS, ref, ({ data }) => data?.['name'] === name);
  };
  const isFinished = async (name: string): Promise<void> => {
    await until(main.client, TESTS, { namespace: NAMESPACE, name }, ({ status }) => status?.phase === 'finished');
  };
  const isGone = async <T extends KubeObject>(
    where: ControlPlane,
    type: ResourceType<T>,
    name: string,
  ): Promise<void> => {
    const reading = where.client.resource(type).get({ namespace: NAMESPACE, name });
    assert.equal(await reading.then(({ metadata }) => metadata?.name, ignoreMissing), undefined);
  };
  const isCleared = (where: readonly ControlPlane[], name: string): Promise<void> =>
    eventually(async () => {
      await isGone(main, TESTS, name);
      for (const each of where) await Promise.all([isGone(each, JOBS, name), isGone(each, CONFIG_MAPS, name)]);
    }, 60_000);
  const works = async (name: string, where: readonly ControlPlane[]): Promise<void> => {
    await create(name);
    await Promise.all(where.map((each) => isThere(each, name)));
    await isFinished(name);
  };

  test('a Job in each cluster, of which one really completes; configuration and its Secret in each', async () => {
    await main.client.resource(SECRETS).create(mirrored('first', SECRET));
    await works('first', [main, paris]);
    await until(paris.client, SECRETS, { namespace: NAMESPACE, name: 'first' }, ({ data }) => {
      return data?.['password'] === SECRET.password;
    });
    const { metadata, status } = await paris.client.resource(JOBS).get({ namespace: NAMESPACE, name: 'first' });
    assert.equal(status?.succeeded, 1);
    assert.equal(metadata?.ownerReferences, undefined);
  });

  test('a cluster that is added gets what there is', async () => {
    await clusters.join(lyon, 'operator-1');
    await isThere(lyon, 'first');
  });

  test('what is changed in a copy is changed back', async () => {
    const ref = { namespace: NAMESPACE, name: 'first' };
    const body = { data: { name: 'last', more: 'of it' } };
    await paris.client.resource(CONFIG_MAPS).patch(ref, { type: 'merge', body });
    await until(paris.client, CONFIG_MAPS, ref, ({ data }) => data?.['name'] === 'first' && !('more' in data));
  });

  test(`a cluster is frozen for ${FROZEN_MS / 1000} s; servers and operators are killed meanwhile`, async (t) => {
    await works('to-be-removed', [main, paris, lyon]);
    await lyon.apiServer.freeze();
    const over = delay(FROZEN_MS);
    await remove('to-be-removed');
    await works('while-frozen', [main, paris]);

    const took = await Promise.all([clusters.jobs, clusters.sync].map((operator) => operator.replaceLeader()));
    t.diagnostic(`taken over after ${took.map((ms) => Math.round(ms)).join(' and ')} ms`);
    assert.ok(took.every((ms) => ms < TAKEOVER_MS));
    await works('after-the-takeover', [main, paris]);

    await paris.apiServer.kill();
    await create('while-killed');
    await paris.startAgain();
    await Promise.all([main, paris].map((each) => isThere(each, 'while-killed')));
    await isFinished('while-killed');

    await over;
    await lyon.apiServer.thaw();
    const missed = ['while-frozen', 'after-the-takeover', 'while-killed'];
    await Promise.all(missed.map((name) => isThere(lyon, name)));
    await isCleared([paris, lyon], 'to-be-removed');
  });

  test('a watch that cannot go on where it was (410) begins anew', async (t) => {
    for (const each of [lyon, main]) {
      await restartCompacted(each);
      const ended = await Promise.all([clusters.jobs, clusters.sync].map((operator) => operator.restartEnded()));
      t.diagnostic(`${each.name}: operators that ended: ${ended.join(', ')}`);
      await works(`after-${each.name}`, [main, paris, lyon]);
    }
    assert.match(await clusters.sync.metrics(), /^asterism_informer_relists_total\{.*reason="410".*\} [1-9]/m);
  });

  test('credentials are replaced', async () => {
    await clusters.join(lyon, 'operator-2');
    await clusters.dismiss(lyon, 'operator-1');
    await works('with-new-credentials', [main, paris, lyon]);
  });

  test('what is deleted while a cluster is away goes when it is back', async () => {
    await clusters.leave(lyon);
    await eventually(async () => assert.match(await clusters.jobs.logs(), /"cluster disengaged"/));
    await remove('first');
    await isCleared([main, paris], 'first');
    await isThere(lyon, 'first');
    await clusters.join(lyon, 'operator-3');
    await isCleared([lyon], 'first');
  });

  test('nothing was lost or doubled', async () => {
    const { items } = await main.client.resource(TESTS).list({ namespace: NAMESPACE });
    const names = items.map(({ metadata }) => metadata?.name ?? '');
    assert.equal(names.length, 6);
    for (const name of [...names, 'first', 'to-be-removed']) {
      assert.deepEqual(
        clusters.seen.map((seen) => seen.of(name)),
        [1, 1, 1],
        `Jobs that were called ${name}`,
      );
    }
    for (const each of [main, paris, lyon]) {
      const { items: jobs } = await each.client.resource(JOBS).list({ namespace: NAMESPACE });
      assert.deepEqual(new Set(jobs.map(({ metadata }) => metadata?.name)), new Set(names), each.name);
    }
    await eventually(async () => {
      const { items: pods } = await paris.client.resource(PODS).list({ namespace: NAMESPACE });
      const ran = pods.map(({ metadata }) => metadata?.labels?.['job-name'] ?? '');
      assert.deepEqual(ran.toSorted(), names.toSorted(), 'each Job has run once, and nothing is left of others');
    });
    for (const operator of [clusters.jobs, clusters.sync]) {
      const logs = await operator.logs();
      assert.doesNotMatch(logs, /panic|TypeError|ReferenceError/);
      assert.ok(!logs.includes(SECRET.password) && !logs.includes('hunter2'));
    }
  });
});

function ignoreMissing(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
