import assert from 'node:assert/strict';
import { watch } from 'node:fs/promises';
import { test } from 'node:test';
import { until } from '@asterism/client/testing';
import { CLUSTERS, RESOURCE_BINDINGS, WORKS } from '@asterism/fleet/api';
import { DEPLOYMENTS, type KubeObject, PODS, REPLICA_SETS } from '@asterism/machinery';
import { AsterUp, temporaryDataDir } from '../demo/aster-up.ts';
import { seededRandom } from './seeded-random.ts';

const ROUNDS = 25;
/** A start on a folder that is there changes files about a thousand times before it is ready, and some forty times a second behind that. */
const WRITES_OF_A_START = 1_000;
const WRITES_OF_THE_REST = 60;
const PODS_OF = { alder: 3, birch: 0, cedar: 6 };

const generationsOf = (objects: readonly KubeObject[]): (number | undefined)[] =>
  objects.map(({ metadata }) => metadata?.generation);

test(`hub, members and agents killed (-9) at random moments of ${ROUNDS} starts: nothing doubled, lost or written again`, async (t) => {
  const random = seededRandom(t);
  await using dir = await temporaryDataDir();
  for (let round = 0; round < ROUNDS; round += 1) {
    const run = new AsterUp(dir.path, ['--demo']);
    await afterWrites(run, random() * WRITES_OF_A_START);
    for (const pid of (await run.processes()).values()) {
      if (random() < 0.4) killIfThere(pid);
    }
    await afterWrites(run, random() * WRITES_OF_THE_REST);
    await run.stop('SIGKILL');
  }
  await using run = new AsterUp(dir.path, ['--demo']);
  await run.ready();
  const hub = await run.hub();
  await until(async () => {
    const template = await hub.resource(DEPLOYMENTS).get({ namespace: 'demo', name: 'web' });
    assert.equal(template.status?.readyReplicas, 9);
    assert.equal(template.metadata?.generation, 1);
  });
  assert.equal((await hub.resource(CLUSTERS).list()).items.length, 3);
  assert.deepEqual(generationsOf((await hub.resource(RESOURCE_BINDINGS).list()).items), [1, 1, 1]);
  assert.deepEqual(generationsOf((await hub.resource(WORKS).list()).items), [1, 1, 1, 1, 1, 1]);
  for (const [name, count] of Object.entries(PODS_OF)) {
    const member = await run.member(name);
    await until(async () => {
      const pods = (await member.resource(PODS).list({ namespace: 'demo' })).items;
      assert.equal(pods.length, count);
      assert.equal(new Set(pods.map(({ status }) => status?.podIP)).size, count, 'an address for each pod');
      assert.equal((await member.resource(REPLICA_SETS).list({ namespace: 'demo' })).items.length, Math.min(count, 1));
      assert.deepEqual(
        generationsOf((await member.resource(DEPLOYMENTS).list({ namespace: 'demo' })).items),
        count > 0 ? [1] : [],
      );
    });
  }
});

/** Resolves when so many more changes of files in its folder were seen, or the run has ended. */
async function afterWrites(run: AsterUp, count: number): Promise<void> {
  const ended = new AbortController();
  void run.exit().then(() => ended.abort());
  let left = count;
  try {
    for await (const _ of watch(run.dataDir, { recursive: true, signal: ended.signal })) if (--left <= 0) return;
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
