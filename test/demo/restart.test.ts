// Runs beside other tests: it waits for `aster` processes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@asterism/client';
import { CLUSTERS, RESOURCE_BINDINGS, WORKS } from '@asterism/fleet/api';
import { DEPLOYMENTS, type KubeObject, PODS, REPLICA_SETS, type ResourceType } from '@asterism/machinery';
import { AsterUp, eventually, temporaryDataDir } from './aster-up.ts';

const web = { namespace: 'demo', name: 'web' };

/** Everything by which a doubled, lost or rewritten object would show. */
async function snapshot(run: AsterUp): Promise<Record<string, string[]>> {
  const hub = await run.hub();
  const state: Record<string, string[]> = {};
  const list = async (label: string, client: Client, type: ResourceType, generations = true): Promise<void> => {
    const { items } = await client.resource(type).list({ namespace: type.namespaced ? undefined : undefined });
    state[label] = items.map((object) => identity(object, generations)).sort();
  };
  await list('hub clusters', hub, CLUSTERS);
  await list('hub deployments', hub, DEPLOYMENTS);
  await list('hub bindings', hub, RESOURCE_BINDINGS);
  await list('hub works', hub, WORKS);
  for (const name of ['alder', 'birch', 'cedar']) {
    const member = await run.member(name);
    await list(`${name} deployments`, member, DEPLOYMENTS);
    await list(`${name} replica sets`, member, REPLICA_SETS);
    await list(`${name} pods`, member, PODS, false);
  }
  return state;
}

function identity({ metadata }: KubeObject, generations: boolean): string {
  const generation = generations ? ` generation ${metadata?.generation}` : '';
  return `${metadata?.namespace ?? ''}/${metadata?.name} ${metadata?.uid}${generation}`;
}

async function settled(run: AsterUp, replicas: number): Promise<void> {
  const hub = await run.hub();
  await eventually(async () => {
    const template = await hub.resource(DEPLOYMENTS).get(web);
    assert.equal(template.status?.readyReplicas, replicas);
    let pods = 0;
    for (const name of ['alder', 'cedar']) {
      const { items } = await (await run.member(name)).resource(PODS).list({ namespace: 'demo' });
      pods += items.length;
    }
    assert.equal(pods, replicas);
  }, 40_000);
}

test('stopped and started again, it goes on where it was, and is alive', async () => {
  await using dir = await temporaryDataDir();
  let before: Record<string, string[]>;
  {
    await using run = new AsterUp(dir.path, ['--demo']);
    await run.ready();
    await settled(run, 9);
    before = await snapshot(run);
    assert.equal(await run.stop('SIGINT'), 0, run.stderr);
  }
  await using run = new AsterUp(dir.path, ['--demo']);
  await run.ready();
  assert.match(run.stdout, /^cedar .* 6 +6 /m);
  assert.deepEqual(await snapshot(run), before);
  const hub = await run.hub();
  await hub.resource(DEPLOYMENTS).patch(web, { type: 'merge', body: { spec: { replicas: 10 } } });
  await settled(run, 10);
});

test('hub, agents and members killed at any moment: started again, the same state', async () => {
  await using dir = await temporaryDataDir();
  // A first run that is killed while everything is still being made.
  {
    const run = new AsterUp(dir.path, ['--demo']);
    await eventually(() => assert.match(run.stderr, /alder: joined/));
    await run.stop('SIGKILL');
  }
  let before: Record<string, string[]>;
  {
    const run = new AsterUp(dir.path, ['--demo']);
    await run.ready();
    await settled(run, 9);
    before = await snapshot(run);
    for (const [name, pid] of await run.processes()) {
      if (name !== 'hub') process.kill(pid, 'SIGKILL');
    }
    // They are started again while the hub stays up.
    await eventually(async () => assert.equal((await run.processes()).size, 3));
    await settled(run, 9);
    await eventually(async () => assert.deepEqual(await snapshot(run), before));
    await run.stop('SIGKILL');
  }
  await using run = new AsterUp(dir.path, ['--demo']);
  await run.ready();
  await settled(run, 9);
  assert.deepEqual(await snapshot(run), before);
});
