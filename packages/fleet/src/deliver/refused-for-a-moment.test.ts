import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { CONFIG_MAPS, type ConfigMap } from '@asterism/machinery';
import { API_VERSION, clusterNamespace, PROPAGATION_POLICIES, type Work, WORKS } from '../api/index.ts';
import { Fleet } from './testing/fleet.ts';

const OBJECT = { namespace: 'demo', name: 'app' };
const WORK = { namespace: clusterNamespace('ant'), name: 'demo.app-configmap' };

describe('what stands in a member whose API server refuses to have it corrected', () => {
  /** Text of bodies, as {@link Fleet} has it. */
  const refuses: Record<string, string> = {};
  let fleet: Fleet;

  before(async () => {
    fleet = await Fleet.start({ ant: { refuses } });
    await fleet.run();
    await fleet.hub
      .resource(CONFIG_MAPS)
      .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: OBJECT, data: { key: 'hub' } });
    await fleet.hub.resource(PROPAGATION_POLICIES).create({
      apiVersion: API_VERSION,
      kind: 'PropagationPolicy',
      metadata: OBJECT,
      spec: { resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap' }] },
    });
    await work(({ status }) => status?.manifestStatuses?.[0]?.applied === true);
  });
  after(() => fleet[Symbol.asyncDispose]());

  const drift = (key: string) =>
    fleet
      .member('ant')
      .resource(CONFIG_MAPS)
      .patch(OBJECT, { type: 'merge', body: { data: { key } } });
  const corrected = () =>
    untilObject(fleet.member('ant'), CONFIG_MAPS, OBJECT, (it?: ConfigMap) => it?.data?.['key'] === 'hub');
  const work = (isWanted: (work: Work) => boolean) =>
    untilObject(fleet.hub, WORKS, WORK, (it) => it !== undefined && isWanted(it));
  /** Of the hub's controllers to the member. */
  const isAttempt = (write: string) => /^ant PATCH .*\/configmaps\/app/.test(write);
  const attempts = () => fleet.writes.filter(isAttempt).length;

  test('for a moment: it is tried again, and nothing is told', async () => {
    const before = await fleet.hub.resource(WORKS).get(WORK);
    const made = attempts();
    refuses['"hub"'] = 'starting';
    fleet.before = async (write) => {
      if (isAttempt(write) && attempts() > made + 2) delete refuses['"hub"'];
    };
    await drift('theirs');
    await corrected();
    assert.equal(attempts(), made + 3);
    assert.deepEqual(await fleet.hub.resource(WORKS).get(WORK), before);
  });

  test('for a moment: the other objects of its Work do not wait for it', async () => {
    const of = (name: string): ConfigMap => {
      return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'demo', name }, data: { key: name } };
    };
    const metadata = { namespace: WORK.namespace, name: 'by-hand' };
    const manifests = [of('one'), of('two')];
    await fleet.hub.resource(WORKS).create({ apiVersion: API_VERSION, kind: 'Work', metadata, spec: { manifests } });
    await untilObject(fleet.hub, WORKS, metadata, (it) => it?.status?.manifestStatuses?.[1]?.applied === true);
    const inMember = fleet.member('ant').resource(CONFIG_MAPS);
    const correctedTo = (name: string) =>
      untilObject(fleet.member('ant'), CONFIG_MAPS, { namespace: 'demo', name }, (it) => it?.data?.['key'] === name);
    refuses['"key":"one"'] = 'starting';
    fleet.before = undefined;
    for (const name of ['one', 'two']) {
      await inMember.patch({ namespace: 'demo', name }, { type: 'merge', body: { data: { key: 'theirs' } } });
    }
    await correctedTo('two');
    assert.equal((await inMember.get({ namespace: 'demo', name: 'one' })).data?.['key'], 'theirs');
    delete refuses['"key":"one"'];
    await correctedTo('one');
  });

  test('again and again: it is told, and again when it could be corrected', async () => {
    refuses['"hub"'] = 'nobody may';
    let changes = 0;
    // So that it is tried again at once.
    fleet.before = async (write) => {
      if (isAttempt(write)) await drift(`theirs, ${++changes}`);
    };
    await drift('theirs');
    const told = await work(({ status }) => status?.manifestStatuses?.[0]?.applied === false);
    assert.equal(told?.status?.manifestStatuses?.[0]?.message, 'ConfigMap demo/app: nobody may');
    assert.ok(changes > 5, `told after ${changes} attempts`);
    fleet.before = undefined;
    delete refuses['"hub"'];
    await drift('other');
    await corrected();
    await work(({ status }) => status?.manifestStatuses?.[0]?.applied === true);
  });
});
