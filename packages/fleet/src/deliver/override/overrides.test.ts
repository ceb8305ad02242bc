import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { CONFIG_MAPS, SECRETS } from '@asterism/machinery';
import {
  API_VERSION,
  CLUSTER_OVERRIDE_POLICIES,
  OVERRIDE_POLICIES,
  type OverridePolicy,
  PROPAGATION_POLICIES,
  RESOURCE_BINDINGS,
  type ResourceBinding,
} from '../../api/index.ts';
import { Fleet } from '../testing/fleet.ts';

type Rules = OverridePolicy['spec']['overrideRules'];

const ref = (name: string) => ({ namespace: 'demo', name });

describe('overrides of a fleet', () => {
  let fleet: Fleet;
  const all = ['ant', 'bee', 'cat'];

  before(async () => {
    fleet = await Fleet.start({ ant: { region: 'eu' }, bee: { region: 'us' }, cat: { region: 'us' } });
    await fleet.run();
  });
  after(() => fleet[Symbol.asyncDispose]());

  const place = (kind: string, name: string) =>
    fleet.hub.resource(PROPAGATION_POLICIES).create({
      apiVersion: API_VERSION,
      kind: 'PropagationPolicy',
      metadata: ref(name),
      spec: {
        resourceSelectors: [{ apiVersion: 'v1', kind, name }],
        placement: { clusterAffinity: { clusterNames: all } },
      },
    });
  const override = (name: string, overrideRules: Rules, kind = 'ConfigMap') =>
    fleet.hub.resource(OVERRIDE_POLICIES).apply(
      {
        apiVersion: API_VERSION,
        kind: 'OverridePolicy',
        metadata: ref(name),
        spec: { resourceSelectors: [{ apiVersion: 'v1', kind, name }], overrideRules },
      },
      { fieldManager: 'test' },
    );
  const said = (where: string, name: string, key: string, text: string | undefined) =>
    untilObject(fleet.member(where), CONFIG_MAPS, ref(name), (it) => it !== undefined && it.data?.[key] === text);
  const told = (name: string, test: (status: NonNullable<ResourceBinding['status']>) => boolean) =>
    untilObject(fleet.hub, RESOURCE_BINDINGS, ref(name), (it) => it?.status !== undefined && test(it.status));
  const appliedIn = (status: ResourceBinding['status']) =>
    status?.aggregatedStatus?.filter(({ applied }) => applied).map(({ clusterName }) => clusterName);

  test('one cluster cannot be given its own: it keeps what it has, and the others go on', async () => {
    const data = { 'app.yaml': '# app\nlevel: info\n', gone: 'x', kept: 'y' };
    await fleet.hub.resource(CONFIG_MAPS).create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: ref('app'), data });
    await place('ConfigMap', 'app');
    await Promise.all(all.map((name) => said(name, 'app', 'app.yaml', '# app\nlevel: info\n')));

    const level = (value: string) => ({
      fieldOverrider: [
        { fieldPath: '/data/app.yaml', yaml: [{ subPath: '/level', operator: 'replace' as const, value }] },
      ],
    });
    await override('app', [
      {
        targetCluster: { fieldSelector: { matchExpressions: [{ key: 'region', operator: 'In', values: ['us'] }] } },
        overriders: level('debug'),
      },
      {
        targetCluster: { clusterNames: ['ant'] },
        overriders: { mergePatch: ['data: {gone: null}', { metadata: { labels: { by: 'object' } } }] },
      },
      {
        targetCluster: { clusterNames: ['cat'] },
        overriders: {
          fieldOverrider: [{ fieldPath: '/data/app.yaml', yaml: [{ subPath: '/nope', operator: 'remove' }] }],
        },
      },
      { overriders: { labelsOverrider: [{ operator: 'remove', value: { absent: '' } }] } },
    ]);
    await said('bee', 'app', 'app.yaml', '# app\nlevel: debug\n');
    await said('ant', 'app', 'gone', undefined);

    const binding = await told('app-configmap', (status) => appliedIn(status)?.join() === 'ant,bee');
    const rule = { kind: 'OverridePolicy', ...ref('app') };
    assert.deepEqual(binding?.status?.unappliedOverrides, [
      {
        ...rule,
        rule: 2,
        overrider: 'fieldOverrider[0]',
        reason: 'Failed',
        message: 'the text at /data/app.yaml: yaml[0]: there is nothing at /nope to remove',
        clusters: ['cat'],
      },
      {
        ...rule,
        rule: 3,
        overrider: 'labelsOverrider[0]',
        reason: 'NoEffect',
        message: 'there is no absent to remove',
        clusters: ['ant', 'bee', 'cat'],
      },
    ]);
    assert.equal(
      binding?.status?.aggregatedStatus?.[2]?.appliedMessage,
      'OverridePolicy demo/app, rule 2, fieldOverrider[0]: the text at /data/app.yaml: yaml[0]: there is nothing at /nope to remove',
    );
    const kept = await fleet.member('cat').resource(CONFIG_MAPS).get(ref('app'));
    assert.deepEqual(kept.data, data);

    await fleet.hub.resource(OVERRIDE_POLICIES).delete(ref('app'));
    await Promise.all(all.map((name) => said(name, 'app', 'app.yaml', '# app\nlevel: info\n')));
    await told('app-configmap', (status) => status.unappliedOverrides === undefined);
  });

  test('the policy of the namespace has the last word over that of the cluster', async () => {
    const replace = (value: string): Rules => [
      { overriders: { plaintext: [{ path: '/data/key', operator: 'replace', value }] } },
    ];
    await fleet.hub.resource(CLUSTER_OVERRIDE_POLICIES).create({
      apiVersion: API_VERSION,
      kind: 'ClusterOverridePolicy',
      metadata: { name: 'z' },
      spec: {
        resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'order' }],
        overrideRules: replace('cluster'),
      },
    });
    await override('order', replace('namespace'));
    await fleet.hub
      .resource(CONFIG_MAPS)
      .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: ref('order'), data: { key: 'hub' } });
    await place('ConfigMap', 'order');
    await Promise.all(all.map((name) => said(name, 'order', 'key', 'namespace')));
  });

  test('no status quotes a Secret', async () => {
    const password = 'hush-hush';
    await fleet.hub.resource(SECRETS).create({ metadata: ref('login'), stringData: { password } });
    const replaced = (value: unknown) => ({
      plaintext: [{ path: '/data/password', operator: 'replace' as const, value }],
    });
    await override(
      'login',
      [
        { targetCluster: { clusterNames: ['bee'] }, overriders: replaced({ password }) },
        {
          targetCluster: { clusterNames: ['cat'] },
          overriders: {
            fieldOverrider: [{ fieldPath: '/data/password', json: [{ subPath: '/a', operator: 'remove' }] }],
          },
        },
      ],
      'Secret',
    );
    await place('Secret', 'login');
    const binding = await told('login-secret', (status) => {
      const [ant, bee, cat] = status.aggregatedStatus ?? [];
      return ant?.applied === true && bee?.appliedMessage?.startsWith('Secret demo') === true && cat?.applied === false;
    });
    const [, bee, cat] = binding?.status?.aggregatedStatus ?? [];
    assert.match(bee?.appliedMessage ?? '', /^Secret demo\/login: it is not valid/);
    assert.match(cat?.appliedMessage ?? '', /the text at \/data\/password: is not JSON$/);
    const text = JSON.stringify(binding?.status);
    for (const secret of [password, Buffer.from(password).toString('base64')]) assert.ok(!text.includes(secret), text);
  });
});
