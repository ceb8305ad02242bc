import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { CONFIG_MAPS, NAMESPACES, SECRETS } from '@asterism/machinery';
import {
  API_VERSION,
  CLUSTER_PROPAGATION_POLICIES,
  OVERRIDE_POLICIES,
  PROPAGATION_POLICIES,
  RESOURCE_BINDINGS,
  WORKS,
} from '../api/index.ts';
import { WORKS_FINALIZER } from '../template/binding-client.ts';
import { Fleet } from './testing/fleet.ts';

const ref = (name: string, namespace = 'demo') => ({ namespace, name });

describe('what a namespace cannot change', () => {
  let fleet: Fleet;
  before(async () => {
    fleet = await Fleet.start({ ant: {} });
    await fleet.run();
  });
  after(() => fleet[Symbol.asyncDispose]());

  test('an object that a cluster-wide policy placed stays as it is, and says so, until that policy allows it', async () => {
    const { hub } = fleet;
    await hub.resource(CONFIG_MAPS).create({ metadata: ref('base'), data: { level: 'high' } });
    await hub.resource(OVERRIDE_POLICIES).create({
      apiVersion: API_VERSION,
      kind: 'OverridePolicy',
      metadata: ref('mine'),
      spec: { overrideRules: [{ overriders: { mergePatch: [{ data: { level: 'low' } }] } }] },
    });
    await hub.resource(CLUSTER_PROPAGATION_POLICIES).create({
      apiVersion: API_VERSION,
      kind: 'ClusterPropagationPolicy',
      metadata: { name: 'base' },
      spec: { resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'base' }] },
    });
    const told = await untilObject(
      hub,
      RESOURCE_BINDINGS,
      ref('base-configmap'),
      (it) => it?.status?.unappliedOverrides !== undefined,
    );
    const [refused] = told?.status?.unappliedOverrides ?? [];
    assert.deepEqual([refused?.reason, refused?.name, refused?.clusters], ['Refused', 'mine', ['ant']]);
    const inAnt = (level: string) =>
      untilObject(fleet.member('ant'), CONFIG_MAPS, ref('base'), (it) => it?.data?.['level'] === level);
    await inAnt('high');
    const body = { spec: { allowNamespaceOverrides: true } };
    await hub.resource(CLUSTER_PROPAGATION_POLICIES).patch({ name: 'base' }, { type: 'merge', body });
    await inAnt('low');
  });

  test('a binding that names an object of another namespace delivers nothing, and is deleted', async () => {
    const { hub } = fleet;
    await hub.resource(NAMESPACES).create({ metadata: { name: 'other' } });
    const secret = await hub.resource(SECRETS).create({ metadata: ref('key'), stringData: { word: 'open' } });
    const uid = secret.metadata?.uid ?? '';
    for (const finalizers of [[], [WORKS_FINALIZER]]) {
      const metadata = { ...ref(`stray-${finalizers.length}`, 'other'), finalizers };
      const resource = { apiVersion: 'v1', kind: 'Secret', namespace: 'demo', name: 'key', uid };
      await hub.resource(RESOURCE_BINDINGS).create({
        apiVersion: API_VERSION,
        kind: 'ResourceBinding',
        metadata,
        spec: { resource, clusters: [{ name: 'ant' }] },
      });
      await untilObject(hub, RESOURCE_BINDINGS, metadata, (binding) => binding === undefined);
    }
    assert.ok(!fleet.writes.some((write) => write.startsWith('ant ') && write.includes('/secrets')));
    const works = await hub.resource(WORKS).list();
    assert.ok(!works.items.some(({ spec }) => spec.manifests.some(({ kind }) => kind === 'Secret')));
  });

  test('a Namespace that is made for content enforces the Pod Security of the hub’s', async () => {
    const { hub } = fleet;
    const ant = fleet.member('ant');
    const enforce = 'pod-security.kubernetes.io/enforce';
    const labels = { [enforce]: 'baseline', team: 'a' };
    await hub.resource(NAMESPACES).create({ metadata: { name: 'strict', labels } });
    await hub.resource(CONFIG_MAPS).create({ metadata: ref('any', 'strict') });
    await hub.resource(PROPAGATION_POLICIES).create({
      apiVersion: API_VERSION,
      kind: 'PropagationPolicy',
      metadata: ref('any', 'strict'),
      spec: { resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap' }] },
    });
    const there = await untilObject(ant, NAMESPACES, { name: 'strict' }, (it) => it !== undefined);
    const { team, [enforce]: level } = there?.metadata?.labels ?? {};
    assert.deepEqual([level, team], ['baseline', undefined]);
    const body = { metadata: { labels: { [enforce]: 'restricted' } } };
    await hub.resource(NAMESPACES).patch({ name: 'strict' }, { type: 'merge', body });
    await untilObject(ant, NAMESPACES, { name: 'strict' }, (it) => it?.metadata?.labels?.[enforce] === 'restricted');
  });
});
