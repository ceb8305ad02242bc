import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, type KubeObject, NAMESPACES } from '@asterism/machinery';
import { API_VERSION, clusterNamespace, type Work, WORKS } from '../../api/index.ts';
import { definitionOf, WIDGETS } from '../testing/custom-kind.ts';
import { Fleet } from '../testing/fleet.ts';

describe('prerequisites in other Works', () => {
  let fleet: Fleet;

  const work = (name: string, manifest: KubeObject, spec: Partial<Work['spec']> = {}): Work => ({
    apiVersion: API_VERSION,
    kind: 'Work',
    metadata: { name, namespace: clusterNamespace('ant') },
    spec: { manifests: [manifest], ...spec },
  });
  const namespace = (name: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { injection: 'on' } },
  });
  const content = (name: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'conf', namespace: name },
  });
  const told = (name: string, check: (work: Work | undefined) => boolean) =>
    untilObject(fleet.hub, WORKS, { namespace: clusterNamespace('ant'), name }, check);
  const messageOf = (it: Work | undefined): string => it?.status?.manifestStatuses?.[0]?.message ?? '';
  const stands = (name: string) =>
    untilObject(fleet.member('ant'), CONFIG_MAPS, { namespace: name, name: 'conf' }, (it) => it !== undefined);

  before(async () => {
    fleet = await Fleet.start({ ant: {} });
    // Before anything runs, so that what is in a Namespace is not behind it.
    for (const each of [
      work('a-content', content('shop')),
      work('z-space', namespace('shop')),
      work('b-content', content('bare')),
    ])
      await fleet.hub.resource(WORKS).create(each);
    await fleet.run();
  });
  after(() => fleet[Symbol.asyncDispose]());

  test('a Namespace that has a Work of its own is never made without what that says', async () => {
    await stands('shop');
    await told('z-space', (it) => it?.status?.manifestStatuses?.[0]?.applied === true);
    await stands('bare');
    const { metadata } = await fleet.member('ant').resource(NAMESPACES).get({ name: 'shop' });
    assert.equal(metadata?.labels?.['injection'], 'on');
    assert.equal(metadata?.labels?.['asterism.dev/managed'], 'z-space');
    const made = fleet.writes.filter((write) => write.startsWith('ant POST /api/v1/namespaces'));
    assert.equal(made.length, 1, 'only of the one that has no Work');
  });

  test('where that Work is held back, what is in the Namespace waits and says so', async () => {
    await fleet.hub.resource(WORKS).create(work('y-space', namespace('held'), { suspendDispatching: true }));
    await told('y-space', (it) => it?.status?.observedGeneration === 1);
    await fleet.hub.resource(WORKS).create(work('c-content', content('held')));
    await told('c-content', (it) => /Namespace held is not there, and dispatching is suspended/.test(messageOf(it)));
    await assert.rejects(fleet.member('ant').resource(NAMESPACES).get({ name: 'held' }), { code: 404 });
    const body = { spec: { suspendDispatching: null } };
    const ref = { namespace: clusterNamespace('ant'), name: 'y-space' };
    await fleet.hub.resource(WORKS).patch(ref, { type: 'merge', body });
    await stands('held');
  });

  test('an object waits for its definition, and stands once that is established', async () => {
    const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'shop' } };
    await fleet.hub.resource(WORKS).create(work('d-widget', widget));
    await told('d-widget', (it) => /no matches for kind "Widget"/.test(messageOf(it)));
    await fleet.hub.resource(WORKS).create(work('e-definition', definitionOf(WIDGETS)));
    await untilObject(fleet.member('ant'), CUSTOM_RESOURCE_DEFINITIONS, { name: 'widgets.example.com' }, (it) => !!it);
    await told('d-widget', (it) => it?.status?.manifestStatuses?.[0]?.applied === true);
    assert.ok(await fleet.member('ant').resource(WIDGETS).get({ namespace: 'shop', name: 'w' }));
  });
});
