import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { DEPLOYMENTS } from '@asterism/machinery';
import {
  CLUSTER_OVERRIDE_POLICIES,
  CLUSTER_PROPAGATION_POLICIES,
  OVERRIDE_POLICIES,
  PROPAGATION_POLICIES,
  type PropagationPolicy,
  RESOURCE_BINDINGS,
  type ResourceBinding,
} from '../api/index.ts';
import { Fleet } from '../deliver/testing/fleet.ts';
import { deployment } from './testing/build.ts';

type PolicySpec = PropagationPolicy['spec'];

const BINDING = { namespace: 'demo', name: 'web-deployment' };
const selecting = (name: string) => [{ apiVersion: 'apps/v1', kind: 'Deployment', name }];
const to = (...clusterNames: string[]) => ({ clusterAffinity: { clusterNames } });

describe('the policy of a template', () => {
  let fleet: Fleet;
  before(async () => {
    fleet = await Fleet.start({ ant: {}, bee: {} });
    await fleet.run();
  });
  after(() => fleet[Symbol.asyncDispose]());

  const bindingWhere = (holds: (binding: ResourceBinding) => boolean) =>
    untilObject(fleet.hub, RESOURCE_BINDINGS, BINDING, (binding) => binding !== undefined && holds(binding));
  const isPlaced = (policy: string, ...clusters: string[]) =>
    bindingWhere(
      ({ spec }) =>
        spec.policy?.name === policy && (spec.clusters ?? []).map(({ name }) => name).join() === clusters.join(),
    );
  const create = (name: string, spec: Partial<PolicySpec>) =>
    fleet.hub.resource(PROPAGATION_POLICIES).create({
      apiVersion: 'asterism.dev/v1alpha1',
      kind: 'PropagationPolicy',
      metadata: { name, namespace: 'demo' },
      spec: { resourceSelectors: selecting('web'), ...spec },
    });
  const edit = (name: string, body: object[]) =>
    fleet.hub.resource(PROPAGATION_POLICIES).patch({ namespace: 'demo', name }, { type: 'json', body });

  test('stays while another is made, and gives way to one that preempts', async () => {
    await fleet.hub.resource(CLUSTER_PROPAGATION_POLICIES).create({
      apiVersion: 'asterism.dev/v1alpha1',
      kind: 'ClusterPropagationPolicy',
      metadata: { name: 'wide' },
      spec: { resourceSelectors: selecting('web'), placement: to('ant'), priority: 9 },
    });
    const { uid: _, ...metadata } = deployment(1).metadata ?? {};
    await fleet.hub.resource(DEPLOYMENTS).create({ ...deployment(1), metadata } as never);
    await isPlaced('wide', 'ant');
    await create('own', { placement: to('bee') });
    // A later change of the holder is seen to have been taken, so the policy before it was looked at and left alone.
    const body = [{ op: 'replace', path: '/spec/placement', value: to('ant', 'bee') }];
    await fleet.hub.resource(CLUSTER_PROPAGATION_POLICIES).patch({ name: 'wide' }, { type: 'json', body });
    await isPlaced('wide', 'ant', 'bee');
    await edit('own', [{ op: 'add', path: '/spec/preemption', value: 'Always' }]);
    await isPlaced('own', 'bee');
  });

  test('that selects it no more leaves it to the others; the last takes away what was placed', async () => {
    await edit('own', [{ op: 'replace', path: '/spec/resourceSelectors', value: selecting('db') }]);
    await isPlaced('wide', 'ant', 'bee');
    await fleet.hub.resource(CLUSTER_PROPAGATION_POLICIES).delete({ name: 'wide' });
    await untilObject(fleet.hub, RESOURCE_BINDINGS, BINDING, (binding) => binding === undefined);
    for (const name of ['ant', 'bee']) {
      await untilObject(
        fleet.member(name),
        DEPLOYMENTS,
        { namespace: 'demo', name: 'web' },
        (object) => object === undefined,
      );
    }
  });

  test('holds back scheduling, and one binding is let go by itself', async () => {
    await create('held', { placement: to('ant'), suspension: { scheduling: true } });
    const waiting = await bindingWhere(({ spec }) => spec.unschedulable?.reason === 'SchedulingSuspended');
    assert.deepEqual(waiting?.spec.clusters, []);
    const body = [{ op: 'add', path: '/spec/suspension', value: { scheduling: false } }];
    await fleet.hub.resource(RESOURCE_BINDINGS).patch(BINDING, { type: 'json', body });
    const released = await isPlaced('held', 'ant');
    assert.deepEqual(released?.spec.suspension, { scheduling: false });
  });

  test('that is Lazy moves nothing until the template changes', async () => {
    await edit('held', [
      { op: 'remove', path: '/spec/suspension' },
      { op: 'add', path: '/spec/activationPreference', value: 'Lazy' },
      { op: 'replace', path: '/spec/placement', value: to('bee') },
    ]);
    const lazy = await bindingWhere(({ spec }) => spec.templateDigest !== undefined);
    assert.deepEqual(lazy?.spec.clusters, [{ name: 'ant', replicas: 1 }]);
    const body = [{ op: 'add', path: '/metadata/labels', value: { touched: 'yes' } }];
    await fleet.hub.resource(DEPLOYMENTS).patch({ namespace: 'demo', name: 'web' }, { type: 'json', body });
    await isPlaced('held', 'bee');
  });

  test('waits for the override policies that it depends on', async () => {
    const overrideRules = [
      { overriders: { labelsOverrider: [{ operator: 'add' as const, value: { mirrored: 'yes' } }] } },
    ];
    const apiVersion = 'asterism.dev/v1alpha1';
    await edit('held', [
      { op: 'remove', path: '/spec/activationPreference' },
      { op: 'replace', path: '/spec/placement', value: to('ant') },
      { op: 'add', path: '/spec/dependentOverrides', value: ['mirror'] },
    ]);
    const waiting = await bindingWhere(({ spec }) => spec.unschedulable?.reason === 'AwaitsOverrides');
    assert.deepEqual(waiting?.spec.clusters, [{ name: 'bee', replicas: 1 }]);
    await fleet.hub.resource(OVERRIDE_POLICIES).create({
      apiVersion,
      kind: 'OverridePolicy',
      metadata: { namespace: 'demo', name: 'mirror' },
      spec: { overrideRules },
    });
    await isPlaced('held', 'ant');
    await fleet.hub.resource(PROPAGATION_POLICIES).delete({ namespace: 'demo', name: 'held' });
    await fleet.hub.resource(CLUSTER_PROPAGATION_POLICIES).create({
      apiVersion,
      kind: 'ClusterPropagationPolicy',
      metadata: { name: 'wide' },
      spec: { resourceSelectors: selecting('web'), placement: to('bee'), dependentOverrides: ['mirror'] },
    });
    await bindingWhere(({ spec }) => spec.unschedulable?.reason === 'AwaitsOverrides');
    await fleet.hub.resource(CLUSTER_OVERRIDE_POLICIES).create({
      apiVersion,
      kind: 'ClusterOverridePolicy',
      metadata: { name: 'mirror' },
      spec: { overrideRules },
    });
    await isPlaced('wide', 'bee');
    await fleet.hub.resource(CLUSTER_OVERRIDE_POLICIES).delete({ name: 'mirror' });
    const kept = await bindingWhere(({ spec }) => spec.unschedulable?.reason === 'AwaitsOverrides');
    assert.deepEqual(kept?.spec.clusters, [{ name: 'bee', replicas: 1 }]);
  });
});
