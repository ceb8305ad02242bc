import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import {
  CONFIG_MAPS,
  HORIZONTAL_POD_AUTOSCALERS,
  HORIZONTAL_POD_AUTOSCALERS_V1,
  type KubeObject,
} from '@asterism/machinery';
import { PROPAGATION_POLICIES, type PropagationPolicy, RESOURCE_BINDINGS, type ResourceBinding } from '../api/index.ts';
import { Fleet } from '../deliver/testing/fleet.ts';
import { WORKS_FINALIZER } from '../template/binding-client.ts';
import { digestedName } from '../template/binding-name.ts';

const WEB = { namespace: 'demo', name: 'web' };
const BINDING = { namespace: 'demo', name: 'web-horizontalpodautoscaler' };
const V1 = 'autoscaling/v1';
const V2 = 'autoscaling/v2';
const selecting = (...versions: string[]) =>
  versions.map((apiVersion) => ({ apiVersion, kind: 'HorizontalPodAutoscaler', name: 'web' }));

const policy = (name: string, spec: PropagationPolicy['spec']): PropagationPolicy => ({
  apiVersion: 'asterism.dev/v1alpha1',
  kind: 'PropagationPolicy',
  metadata: { namespace: 'demo', name },
  spec,
});

const versionOf = (binding: ResourceBinding | undefined) => binding?.spec.resource.apiVersion;

describe('an object that is served in several versions', () => {
  let fleet: Fleet;
  before(async () => {
    const serves = [`${V1}/HorizontalPodAutoscaler`, `${V2}/HorizontalPodAutoscaler`, 'v1/ConfigMap'];
    fleet = await Fleet.start({ ant: { serves } }, { timing: { coalesceMs: 20, progressMs: 50, patienceMs: 50 } });
    await fleet.hub.resource(HORIZONTAL_POD_AUTOSCALERS).create({
      metadata: WEB,
      spec: { maxReplicas: 5, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
    });
    await fleet.hub
      .resource(PROPAGATION_POLICIES)
      .create(policy('maps', { resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap' }] }));
    await fleet.run();
  });
  after(() => fleet[Symbol.asyncDispose]());

  const policies = () => fleet.hub.resource(PROPAGATION_POLICIES);
  const inMember = () => fleet.member('ant').resource(HORIZONTAL_POD_AUTOSCALERS).get(WEB);
  const bindings = async () =>
    (await fleet.hub.resource(RESOURCE_BINDINGS).list({ namespace: 'demo' })).items.filter(
      ({ spec }) => spec.resource.kind === 'HorizontalPodAutoscaler',
    );
  const placedIn = (version: string) =>
    untilObject(
      fleet.hub,
      RESOURCE_BINDINGS,
      BINDING,
      (binding) => versionOf(binding) === version && binding?.status?.aggregatedStatus?.[0]?.applied === true,
    );
  /** A change goes to the member and its status back: what came before it is done with then. */
  const oneMoreGoesThrough = async (name: string): Promise<void> => {
    await fleet.hub.resource(CONFIG_MAPS).create({ metadata: { namespace: 'demo', name } });
    await untilObject(
      fleet.hub,
      RESOURCE_BINDINGS,
      { namespace: 'demo', name: `${name}-configmap` },
      (binding) => binding?.status?.aggregatedStatus?.[0]?.applied === true,
    );
  };

  test('has one binding where two policies name it by different ones, in that of the policy that wins', async () => {
    await policies().create(policy('b', { resourceSelectors: selecting(V2) }));
    await placedIn(V2);
    await policies().create(policy('a', { resourceSelectors: selecting(V1), priority: 1, preemption: 'Always' }));
    await placedIn(V1);
    assert.equal((await bindings()).length, 1);
  });

  test('moves to the other version without leaving the member, when the other policy takes it over', async () => {
    const [before, placed] = await Promise.all([bindings(), inMember()]);
    await policies().delete({ namespace: 'demo', name: 'a' });
    await placedIn(V2);
    assert.deepEqual(
      (await bindings()).map(({ metadata }) => metadata.uid),
      before.map(({ metadata }) => metadata.uid),
    );
    assert.equal((await inMember()).metadata?.uid, placed.metadata?.uid);
    await policies().delete({ namespace: 'demo', name: 'b' });
    await untilObject(fleet.hub, RESOURCE_BINDINGS, BINDING, (binding) => binding === undefined);
  });

  test('is placed once by a policy that names both, in the first of them, and its status is not fought over', async () => {
    await policies().create(policy('both', { resourceSelectors: selecting(V1, V2) }));
    await placedIn(V1);
    const status = { currentReplicas: 2, desiredReplicas: 2 };
    await fleet
      .member('ant')
      .resource(HORIZONTAL_POD_AUTOSCALERS_V1)
      .patch(WEB, { type: 'merge', body: { status } }, { subresource: 'status' });
    const told = ({ status: told }: KubeObject = {}) =>
      (told as { desiredReplicas?: number } | undefined)?.desiredReplicas === 2;
    await untilObject(fleet.hub, HORIZONTAL_POD_AUTOSCALERS_V1, WEB, told);
    await oneMoreGoesThrough('settled');
    fleet.writes.length = 0;
    for (const name of ['one', 'two', 'three']) await oneMoreGoesThrough(name);
    assert.deepEqual(
      fleet.writes.filter((write) => write.includes('web')),
      [],
    );
    assert.deepEqual((await bindings()).map(versionOf), [V1]);
  });

  test('keeps its version under a Lazy policy until it changes', async () => {
    const body = { spec: { activationPreference: 'Lazy', resourceSelectors: selecting(V2) } };
    await policies().patch({ namespace: 'demo', name: 'both' }, { type: 'merge', body });
    const lazy = await untilObject(
      fleet.hub,
      RESOURCE_BINDINGS,
      BINDING,
      (each) => each?.spec.templateDigest !== undefined,
    );
    assert.equal(versionOf(lazy), V1);
    await fleet.hub
      .resource(HORIZONTAL_POD_AUTOSCALERS)
      .patch(WEB, { type: 'merge', body: { metadata: { labels: { touched: 'yes' } } } });
    await placedIn(V2);
  });

  test('loses the second binding that a release before made for it, and stays where it stands', async () => {
    await fleet.stop();
    const placed = await inMember();
    const [{ spec }] = (await bindings()) as [ResourceBinding];
    const double = digestedName({ apiVersion: V1, kind: 'HorizontalPodAutoscaler', name: 'web' });
    await fleet.hub.resource(RESOURCE_BINDINGS).create({
      apiVersion: 'asterism.dev/v1alpha1',
      kind: 'ResourceBinding',
      metadata: { namespace: 'demo', name: double, finalizers: [WORKS_FINALIZER] },
      spec: { ...spec, resource: { ...spec.resource, apiVersion: V1 } },
    });
    await fleet.run();
    await untilObject(fleet.hub, RESOURCE_BINDINGS, { namespace: 'demo', name: double }, (each) => each === undefined);
    await placedIn(V2);
    assert.equal((await inMember()).metadata?.uid, placed.metadata?.uid);
  });
});
