import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { CONFIG_MAPS, type ConfigMap, findCondition } from '@asterism/machinery';
import {
  API_VERSION,
  clusterNamespace,
  PROPAGATION_POLICIES,
  type PropagationPolicy,
  RESOURCE_BINDINGS,
  type ResourceBinding,
  type Work,
  WORKS,
} from '../api/index.ts';
import { Fleet } from './testing/fleet.ts';

type Spec = PropagationPolicy['spec'];

const ref = (name: string) => ({ namespace: 'demo', name });
const fullyApplied = (binding: ResourceBinding | undefined) =>
  findCondition(binding?.status?.conditions, 'FullyApplied');
const isSuspended = (binding: ResourceBinding | undefined) => fullyApplied(binding)?.reason === 'SuspendDispatching';
const isApplied = (binding: ResourceBinding | undefined) => fullyApplied(binding)?.status === 'True';

/** One member is pushed to, the other pulls: the rules are the same. */
const MEMBERS = ['ant', 'bee'] as const;

describe('suspension of dispatching', () => {
  let fleet: Fleet;

  before(async () => {
    fleet = await Fleet.start({ ant: {}, bee: { syncMode: 'Pull' } });
    await fleet.run();
  });
  after(() => fleet[Symbol.asyncDispose]());

  const configMap = (name: string, value: string): ConfigMap => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: ref(name),
    data: { value },
  });
  const say = (name: string, value: string) =>
    fleet.hub.resource(CONFIG_MAPS).patch(ref(name), { type: 'merge', body: { data: { value } } });
  const stands = (where: string, name: string, value: string) =>
    untilObject(fleet.member(where), CONFIG_MAPS, ref(name), (object) => object?.data?.['value'] === value);
  const valueIn = async (where: string, name: string) =>
    (await fleet.member(where).resource(CONFIG_MAPS).get(ref(name))).data?.['value'];
  const gone = (where: string, name: string) =>
    untilObject(fleet.member(where), CONFIG_MAPS, ref(name), (object) => object === undefined);
  const binding = (name: string, check: (binding: ResourceBinding | undefined) => boolean) =>
    untilObject(fleet.hub, RESOURCE_BINDINGS, ref(`${name}-configmap`), check);
  const work = (where: string, name: string, check: (work: Work | undefined) => boolean) =>
    untilObject(fleet.hub, WORKS, { namespace: clusterNamespace(where), name: `demo.${name}-configmap` }, check);
  const change = (name: string, spec: object) =>
    fleet.hub.resource(PROPAGATION_POLICIES).patch(ref(name), { type: 'merge', body: { spec } });

  async function place(name: string, extra: Partial<Spec> = {}): Promise<void> {
    await fleet.hub.resource(CONFIG_MAPS).create(configMap(name, 'first'));
    await fleet.hub.resource(PROPAGATION_POLICIES).create({
      apiVersion: API_VERSION,
      kind: 'PropagationPolicy',
      metadata: ref(name),
      spec: {
        resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name }],
        placement: { clusterAffinity: { clusterNames: [...MEMBERS] } },
        ...extra,
      },
    });
  }

  /** Writes to an object of that name in any member. */
  const writesTo = (name: string) =>
    fleet.writes.filter((write) => !write.startsWith('hub ') && write.includes(`/${name}`));

  test('as a whole: no member is written to, whatever becomes of it there; lifted, all is at once as it shall be', async () => {
    await place('held');
    for (const member of MEMBERS) await stands(member, 'held', 'first');
    await change('held', { suspension: { dispatching: true } });
    for (const member of MEMBERS) {
      const told = await work(member, 'held', (it) => it?.status?.observedGeneration === 2);
      const dispatching = findCondition(told?.status?.conditions, 'Dispatching');
      assert.deepEqual([dispatching?.status, dispatching?.reason], ['False', 'SuspendDispatching']);
    }
    const before = writesTo('held').length;
    await say('held', 'second');
    await fleet.member('ant').resource(CONFIG_MAPS).delete(ref('held'));
    const body = { data: { value: 'drifted' } };
    await fleet.member('bee').resource(CONFIG_MAPS).patch(ref('held'), { type: 'merge', body });
    for (const member of MEMBERS) await work(member, 'held', (it) => it?.status?.observedGeneration === 3);
    const told = await binding(
      'held',
      (it) => isSuspended(it) && it?.status?.observedGeneration === it?.metadata.generation,
    );
    assert.equal(fullyApplied(told)?.message, 'applied in 0 of 2 clusters; dispatching is suspended to ant, bee');
    assert.match(told?.status?.aggregatedStatus?.[0]?.appliedMessage ?? '', /^dispatching is suspended/);
    // What drifts without a change of the Work is seen by watch: a change after it has been seen when that has.
    await say('held', 'third');
    for (const member of MEMBERS) await work(member, 'held', (it) => it?.status?.observedGeneration === 4);
    assert.equal(writesTo('held').length, before);
    await assert.rejects(valueIn('ant', 'held'), { code: 404 });
    assert.equal(await valueIn('bee', 'held'), 'drifted');
    await change('held', { suspension: null });
    for (const member of MEMBERS) await stands(member, 'held', 'third');
    await binding('held', isApplied);
    const lifted = await work('ant', 'held', (it) => it?.status?.observedGeneration === 5);
    assert.equal(findCondition(lifted?.status?.conditions, 'Dispatching')?.status, 'True');
  });

  for (const [held, free] of [MEMBERS, MEMBERS.toReversed()] as [string, string][]) {
    test(`for ${held} alone: the other goes on, and what is new comes when it is lifted`, async () => {
      const name = `for-${held}`;
      await place(name, { suspension: { dispatchingOnClusters: { clusterNames: [held] } } });
      await stands(free, name, 'first');
      const told = await binding(name, isSuspended);
      assert.equal(fullyApplied(told)?.message, `applied in 1 of 2 clusters; dispatching is suspended to ${held}`);
      await say(name, 'second');
      await stands(free, name, 'second');
      await work(held, name, (it) => it?.status?.observedGeneration === 2);
      await assert.rejects(valueIn(held, name), { code: 404 });
      await change(name, { suspension: null });
      await stands(held, name, 'second');
      await binding(name, isApplied);
    });
  }

  test('a cluster that is held back keeps what it has, though it is chosen no more, until that is lifted', async () => {
    await place('kept');
    for (const member of MEMBERS) await stands(member, 'kept', 'first');
    const placement = { clusterAffinity: { clusterNames: ['ant'] } };
    await change('kept', { suspension: { dispatchingOnClusters: { clusterNames: ['bee'] } }, placement });
    const told = await binding('kept', (it) => isSuspended(it) && it?.spec.clusters?.length === 1);
    assert.equal(
      fullyApplied(told)?.message,
      'applied in 1 of 1 clusters; not removed from bee: dispatching is suspended there',
    );
    await work('bee', 'kept', (it) => it?.spec.suspendDispatching === true && it.status?.observedGeneration === 2);
    assert.equal(await valueIn('bee', 'kept'), 'first');
    await change('kept', { suspension: null });
    await gone('bee', 'kept');
    await binding('kept', isApplied);
    await stands('ant', 'kept', 'first');
  });

  test('that the template is deleted is carried out all the same', async () => {
    await place('ended');
    for (const member of MEMBERS) await stands(member, 'ended', 'first');
    await change('ended', { suspension: { dispatching: true } });
    await binding('ended', isSuspended);
    await fleet.hub.resource(CONFIG_MAPS).delete(ref('ended'));
    for (const member of MEMBERS) await gone(member, 'ended');
    await binding('ended', (it) => it === undefined);
  });
});
