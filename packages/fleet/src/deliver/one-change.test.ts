import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { type Deployment, DEPLOYMENTS } from '@asterism/machinery';
import { API_VERSION, PROPAGATION_POLICIES, type PropagationPolicy } from '../api/index.ts';
import { deployment } from '../place/testing/build.ts';
import { Fleet } from './testing/fleet.ts';

const IMAGE = '/spec/template/spec/containers/0/image';

const template = (name: string): Deployment => {
  const { uid: _, ...metadata } = deployment(2).metadata ?? {};
  return { ...deployment(2), metadata: { ...metadata, name } } as Deployment;
};
const imageOf = (object: Deployment | undefined) => object?.spec?.template.spec?.containers[0]?.image;

describe('replicas and an image that change at once', () => {
  let fleet: Fleet;
  before(async () => {
    fleet = await Fleet.start({ ant: {}, bee: {} });
    await fleet.run();
  });
  after(() => fleet[Symbol.asyncDispose]());

  const inMember = (name: string, check: (object: Deployment) => boolean) =>
    untilObject(fleet.member('ant'), DEPLOYMENTS, { namespace: 'demo', name }, (it) => it !== undefined && check(it));
  const place = (name: string, spec: Partial<PropagationPolicy['spec']>) =>
    fleet.hub.resource(PROPAGATION_POLICIES).create({
      apiVersion: API_VERSION,
      kind: 'PropagationPolicy',
      metadata: { namespace: 'demo', name },
      spec: { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name }], ...spec },
    });
  const change = (name: string, replicas: number, image: string) =>
    fleet.hub.resource(DEPLOYMENTS).patch(
      { namespace: 'demo', name },
      {
        type: 'json',
        body: [
          { op: 'replace', path: '/spec/replicas', value: replicas },
          { op: 'replace', path: IMAGE, value: image },
        ],
      },
    );

  test('reach a member in one write, however late they are divided', async () => {
    const deployments = fleet.hub.resource(DEPLOYMENTS);
    await place('web', { placement: { replicaScheduling: { replicaSchedulingType: 'Divided' } } });
    await place('other', { placement: { clusterAffinity: { clusterNames: ['ant'] } } });
    await Promise.all([deployments.create(template('web')), deployments.create(template('other'))]);
    await Promise.all([inMember('web', () => true), inMember('other', () => true)]);
    fleet.writes.length = 0;
    // What is decided of it is late, until what changed after it has gone by.
    const passed = Promise.withResolvers<void>();
    fleet.before = (write) =>
      /PATCH .*resourcebindings\/web-deployment\b/.test(write) ? passed.promise : Promise.resolve();
    await change('web', 6, 'nginx:2');
    await change('other', 2, 'nginx:2');
    await inMember('other', (it) => imageOf(it) === 'nginx:2');
    passed.resolve();
    const live = await inMember('web', ({ spec }) => spec?.replicas === 3);
    assert.equal(imageOf(live), 'nginx:2');
    const writes = fleet.writes.filter((write) => /^ant PATCH .*deployments\/web\b/.test(write));
    assert.equal(writes.length, 1);
  });

  test('reach it though nothing is decided anew: there is no room for them, scheduling is suspended, or the policy is Lazy', async () => {
    const divided = {
      replicaSchedulingType: 'Divided',
      weightPreference: { dynamicWeight: 'AvailableReplicas' },
    } as const;
    const rows: [name: string, before: Partial<PropagationPolicy['spec']>, after: object, replicas: number][] = [
      ['full', { placement: { clusterAffinity: { clusterNames: ['ant'] }, replicaScheduling: divided } }, {}, 2],
      ['held', { placement: {} }, { suspension: { scheduling: true } }, 2],
      ['lazy', { placement: {} }, { activationPreference: 'Lazy' }, 5_000],
      ['both', { placement: {} }, {}, 5_000],
    ];
    for (const [name, spec, later, replicas] of rows) {
      await place(name, spec);
      await fleet.hub.resource(DEPLOYMENTS).create(template(name));
      await inMember(name, () => true);
      await fleet.hub
        .resource(PROPAGATION_POLICIES)
        .patch({ namespace: 'demo', name }, { type: 'merge', body: { spec: later } });
      await change(name, 5_000, 'nginx:2');
      const live = await inMember(name, (it) => imageOf(it) === 'nginx:2');
      assert.equal(live?.spec?.replicas, replicas, name);
    }
  });
});
