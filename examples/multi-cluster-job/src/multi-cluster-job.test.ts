import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type FaultyTestServer, startTestServer, type TestServer, untilObject } from '@asterism/apiserver/testing';
import { type Job, JOBS, type KubeObject, type ResourceType } from '@asterism/machinery';
import { type ClusterProvider, createManager, type Engagement, silentLogger } from '@asterism/runtime';
import { addMultiClusterJob } from './multi-cluster-job.ts';
import { type Test, TESTS } from './test-kind.ts';

const ref = { namespace: 'default', name: 'sample' };

let parts: AsyncDisposableStack;
let main: TestServer;
let paris: FaultyTestServer;
let lyon: TestServer;
let join: (name: string, server: TestServer) => Engagement;

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  const crds = [new URL('../crd.yaml', import.meta.url)];
  const starting = [startTestServer({ crds }), startTestServer({ faults: true }), startTestServer()] as const;
  [main, paris, lyon] = await Promise.all(starting);
  for (const server of [main, paris, lyon]) parts.use(server);
  const engaging = Promise.withResolvers<Parameters<ClusterProvider['run']>[0]>();
  const providers: ClusterProvider[] = [{ run: async (engage) => engaging.resolve(engage) }];
  const manager = createManager({ client: main.client, providers, logger: silentLogger });
  addMultiClusterJob(manager, 'test');
  const stop = new AbortController();
  const stopped = manager.start(stop.signal);
  parts.defer(async () => {
    stop.abort();
    await stopped;
  });
  const engage = await engaging.promise;
  join = (name, server) => engage(name, server.client);
});
afterEach(() => parts.disposeAsync());

/** Resolves when the server's object of that kind is so. */
const when = <T extends KubeObject>(
  { inside }: TestServer,
  type: ResourceType<T>,
  holds: (found: T | undefined) => boolean,
): Promise<T | undefined> => untilObject(inside, type, ref, holds);
const isThere = (found: unknown): boolean => found !== undefined;
const isGone = (found: unknown): boolean => found === undefined;
const hasJob = (server: TestServer): Promise<Job | undefined> => when(server, JOBS, isThere);

const createTest = (image = 'busybox'): Promise<Test> =>
  main.inside.resource(TESTS).create({
    apiVersion: 'job.lailin.xyz/v1',
    kind: 'Test',
    metadata: ref,
    spec: { image },
  });
const deleteTest = () => main.inside.resource(TESTS).delete(ref);

async function complete({ inside }: TestServer): Promise<void> {
  const time = new Date().toISOString();
  const condition = { status: 'True', lastProbeTime: time, lastTransitionTime: time };
  const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({ type, ...condition }));
  const status = { startTime: time, completionTime: time, succeeded: 1, conditions };
  await inside.resource(JOBS).patch(ref, { type: 'merge', body: { status } }, { subresource: 'status' });
}

describe('a Test', { timeout: 60_000 }, () => {
  test('is a Job of its image in every cluster, also in one that joins later', async () => {
    join('paris', paris);
    await createTest('hello:1');
    const made = await Promise.all([main, paris].map((server) => hasJob(server)));
    join('lyon', lyon);
    made.push(await hasJob(lyon));
    const images = made.map((job) => job?.spec?.template.spec?.containers[0]?.image);
    assert.deepEqual(images, ['hello:1', 'hello:1', 'hello:1']);
  });

  test('is finished when any one of them completes, and stays it', async () => {
    join('paris', paris);
    await createTest();
    await when(main, TESTS, (found) => found?.status?.phase === 'running');
    await hasJob(paris);
    await complete(paris);
    await when(main, TESTS, (found) => found?.status?.phase === 'finished');
    const { metadata } = (await hasJob(paris)) ?? {};
    await paris.inside.resource(JOBS).delete(ref);
    await when(paris, JOBS, (found) => found !== undefined && found.metadata?.uid !== metadata?.uid);
    assert.equal((await main.inside.resource(TESTS).get(ref)).status?.phase, 'finished');
  });

  test('takes its Jobs along, and waits until they have gone', async () => {
    join('paris', paris);
    await createTest();
    await Promise.all([hasJob(main), hasJob(paris)]);
    await deleteTest();
    await when(main, TESTS, isGone);
    for (const { inside } of [main, paris]) assert.deepEqual((await inside.resource(JOBS).list()).items, []);
  });

  for (const again of [false, true]) {
    const what = again ? 'replaced by the one of another Test of that name' : 'removed';
    test(`a Job in a cluster that was away is ${what} when it is back`, async () => {
      const stay = join('paris', paris);
      await createTest('old');
      await hasJob(paris);
      await stay.disengage();
      await deleteTest();
      await when(main, TESTS, isGone);
      if (again) await createTest('new');
      join('paris', paris);
      const isNew = (job?: Job): boolean => job?.spec?.template.spec?.containers[0]?.image === 'new';
      await when(paris, JOBS, again ? isNew : isGone);
    });
  }

  test('leaves somebody else’s Job of that name alone, and its other clusters do not mind', async () => {
    const spec = { restartPolicy: 'Never' as const, containers: [{ name: 'theirs', image: 'theirs' }] };
    await paris.inside.resource(JOBS).create({ metadata: ref, spec: { template: { spec } } });
    join('paris', paris);
    join('lyon', lyon);
    await createTest();
    await Promise.all([hasJob(main), hasJob(lyon)]);
    await paris.faults.requested({ verb: 'create', resource: 'jobs.batch', status: 409 });
    await deleteTest();
    await when(main, TESTS, isGone);
    assert.equal((await hasJob(paris))?.spec?.template.spec?.containers[0]?.name, 'theirs');
  });

  test('has its Jobs in the others while a cluster is frozen, and in that one when it thaws', async () => {
    join('paris', paris);
    join('lyon', lyon);
    await createTest('first');
    await hasJob(paris);
    await deleteTest();
    await when(main, TESTS, isGone);
    const ice = paris.faults.freeze();
    await createTest('second');
    await Promise.all([hasJob(main), hasJob(lyon)]);
    ice.lift();
    await hasJob(paris);
  });

  test('has no second Job where the answer to its creation was lost', async () => {
    join('paris', paris);
    const lost = paris.faults.inject({ kind: 'lost-answer' }, { verb: 'create', resource: 'jobs.batch' });
    await createTest();
    await lost.hit();
    const job = await hasJob(paris);
    await complete(paris);
    await when(main, TESTS, (found) => found?.status?.phase === 'finished');
    assert.equal((await hasJob(paris))?.metadata?.uid, job?.metadata?.uid);
  });
});
