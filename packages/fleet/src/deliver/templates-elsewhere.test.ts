import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import {
  CONFIG_MAPS,
  type Deployment,
  DEPLOYMENTS,
  isConditionTrue,
  type KubeObject,
  NAMESPACES,
  type ResourceType,
} from '@asterism/machinery';
import {
  CLUSTER_PROPAGATION_POLICIES,
  CLUSTER_RESOURCE_BINDINGS,
  type ClusterResourceBinding,
  RESOURCE_BINDINGS,
  type ResourceBinding,
  WORKS,
} from '../api/index.ts';
import { deployment } from '../place/testing/build.ts';
import { definitionOf, establish, WIDGETS } from './testing/custom-kind.ts';
import { Fleet } from './testing/fleet.ts';
import { policyForAll } from './testing/policy-for-all.ts';

const WEB = { namespace: 'demo', name: 'web' };
const CONF = { namespace: 'demo', name: 'conf' };
const BINDING = { namespace: 'demo', name: 'web-deployment' };

const CLUSTER_WIDGETS: ResourceType = { ...WIDGETS, namespaced: false };

/** Of the whole cluster, so that nothing but the binding itself needs the namespace in the hub's API server. */
const policy = policyForAll(['apps/v1/Deployment', 'example.com/v1/Widget'], {
  propagateDeps: true,
  placement: { clusterAffinity: { clusterNames: ['ant'] } },
});

const web = (replicas: number, podSpec: object = {}): Deployment => {
  const { uid: _, ...metadata } = deployment(replicas).metadata ?? {};
  return { ...deployment(replicas, { podSpec }), metadata } as Deployment;
};

const isApplied = (binding: ResourceBinding | ClusterResourceBinding | undefined): boolean =>
  isConditionTrue(binding?.status?.conditions, 'FullyApplied');

describe('templates in another API server', () => {
  let fleet: Fleet;
  before(async () => {
    fleet = await Fleet.start(
      { ant: { serves: ['v1/ConfigMap', 'apps/v1/Deployment', 'example.com/v1/Widget'] } },
      { templatesElsewhere: true },
    );
    await fleet.hub.resource(CLUSTER_PROPAGATION_POLICIES).create(policy);
    await fleet.run();
  });
  after(() => fleet[Symbol.asyncDispose]());

  const inMember = <T extends KubeObject>(
    type: ResourceType<T>,
    ref: { namespace?: string; name: string },
    wanted: (object: T | undefined) => boolean,
  ) => untilObject(fleet.member('ant'), type, ref, wanted);

  test('go to members with what they need; nothing of them stands in the hub but a binding that nobody owns', async () => {
    await fleet.templates.resource(CONFIG_MAPS).create({ metadata: CONF, data: { key: 'template' } });
    await fleet.templates
      .resource(DEPLOYMENTS)
      .create(web(2, { volumes: [{ name: 'conf', configMap: { name: 'conf' } }] }));
    await inMember(DEPLOYMENTS, WEB, (object) => object?.spec?.replicas === 2);
    await inMember(CONFIG_MAPS, CONF, (object) => object?.data?.['key'] === 'template');
    const binding = await fleet.hub.resource(RESOURCE_BINDINGS).get(BINDING);
    assert.equal(binding.metadata.ownerReferences, undefined);
    const template = await fleet.templates.resource(DEPLOYMENTS).get(WEB);
    assert.equal(binding.spec.resource.uid, template.metadata?.uid);
    assert.deepEqual((await fleet.hub.resource(DEPLOYMENTS).list()).items, []);
  });

  test('the namespace that the bindings need is made, and says why it is there', async () => {
    const { metadata } = await fleet.hub.resource(NAMESPACES).get({ name: 'demo' });
    assert.equal(metadata?.labels?.['asterism.dev/made-for'], 'templates');
  });

  test('their status comes back to where they are, in one write', async () => {
    await untilObject(fleet.hub, RESOURCE_BINDINGS, BINDING, isApplied);
    await untilObject(fleet.templates, DEPLOYMENTS, WEB, (object) => object?.status?.conditions !== undefined);
    fleet.writes.length = 0;
    const value = { observedGeneration: 1, replicas: 2, readyReplicas: 2, availableReplicas: 2, updatedReplicas: 2 };
    const body = [{ op: 'add', path: '/status', value }];
    await fleet.member('ant').resource(DEPLOYMENTS).patch(WEB, { type: 'json', body }, { subresource: 'status' });
    await untilObject(fleet.templates, DEPLOYMENTS, WEB, (object) => object?.status?.readyReplicas === 2);
    // A change that goes all the way and back: what the status itself brought about is done then.
    await fleet.templates.resource(CONFIG_MAPS).patch(CONF, { type: 'merge', body: { data: { key: 'newer' } } });
    await inMember(CONFIG_MAPS, CONF, (object) => object?.data?.['key'] === 'newer');
    const statuses = fleet.writes.filter((write) => write.startsWith('templates '));
    assert.deepEqual(statuses, ['templates PATCH /apis/apps/v1/namespaces/demo/deployments/web/status']);
  });

  test('an object of the hub’s API server with the same kind and name is another, and no template', async () => {
    const { hub, templates } = fleet;
    const native = await hub.resource(DEPLOYMENTS).create(web(7));
    await hub.resource(DEPLOYMENTS).create({ ...web(7), metadata: { namespace: 'demo', name: 'native' } });
    await templates.resource(DEPLOYMENTS).patch(WEB, { type: 'merge', body: { spec: { replicas: 3 } } });
    await inMember(DEPLOYMENTS, WEB, (object) => object?.spec?.replicas === 3);
    assert.deepEqual(await hub.resource(DEPLOYMENTS).get(WEB), native);
    await hub.resource(DEPLOYMENTS).delete(WEB);
    await templates.resource(DEPLOYMENTS).patch(WEB, { type: 'merge', body: { spec: { replicas: 4 } } });
    await inMember(DEPLOYMENTS, WEB, (object) => object?.spec?.replicas === 4);
    const bindings = (await hub.resource(RESOURCE_BINDINGS).list()).items.map(({ metadata }) => metadata.name);
    assert.deepEqual(new Set(bindings), new Set(['conf-configmap', 'web-deployment']));
  });

  test('their kinds are those of their own API server, also where they come later', async () => {
    const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'wheel' } };
    for (const client of [fleet.hub, fleet.member('ant'), fleet.templates]) {
      await establish(client, definitionOf(CLUSTER_WIDGETS));
      if (client === fleet.hub)
        await client.resource(CLUSTER_WIDGETS).create({ ...widget, metadata: { name: 'native' } });
    }
    await fleet.templates.resource(CLUSTER_WIDGETS).create(widget);
    await inMember(CLUSTER_WIDGETS, { name: 'wheel' }, (object) => object !== undefined);
    await untilObject(fleet.hub, CLUSTER_RESOURCE_BINDINGS, { name: 'wheel-widget' }, isApplied);
    const bindings = (await fleet.hub.resource(CLUSTER_RESOURCE_BINDINGS).list()).items;
    assert.deepEqual(
      bindings.map(({ metadata }) => metadata.name),
      ['wheel-widget'],
    );
  });

  test('a restart writes nothing', async () => {
    await untilObject(
      fleet.hub,
      RESOURCE_BINDINGS,
      BINDING,
      (binding) => isApplied(binding) && binding?.status?.observedGeneration === binding?.metadata.generation,
    );
    await fleet.stop();
    fleet.writes.length = 0;
    await fleet.run();
    for (const key of ['newest', 'latest']) {
      await fleet.templates.resource(CONFIG_MAPS).patch(CONF, { type: 'merge', body: { data: { key } } });
      await inMember(CONFIG_MAPS, CONF, (object) => object?.data?.['key'] === key);
    }
    assert.deepEqual(
      fleet.writes.filter((write) => !write.includes('conf')),
      [],
    );
  });

  test('templates that cannot be asked for are not taken for deleted', async () => {
    await fleet.stop();
    fleet.writes.length = 0;
    const asked = Promise.withResolvers<void>();
    let calls = 0;
    fleet.templatesAway = () => (++calls === 12 ? asked.resolve() : undefined);
    await fleet.run();
    await asked.promise;
    assert.equal(fleet.writes.length, 0, String(fleet.writes));
    await fleet.stop();
    fleet.templatesAway = undefined;
    await fleet.run();
    await fleet.templates.resource(CONFIG_MAPS).patch(CONF, { type: 'merge', body: { data: { key: 'back' } } });
    await inMember(CONFIG_MAPS, CONF, (object) => object?.data?.['key'] === 'back');
    assert.deepEqual(
      fleet.writes.filter((write) => write.includes('DELETE')),
      [],
    );
  });

  test('a template that was deleted while no hub ran takes its binding and its objects with it', async () => {
    await fleet.stop();
    await fleet.templates.resource(DEPLOYMENTS).delete(WEB);
    await fleet.hub.resource(DEPLOYMENTS).create(web(7)); // of the same kind and name: it does not keep the binding
    await fleet.run();
    await inMember(DEPLOYMENTS, WEB, (object) => object === undefined);
    await inMember(CONFIG_MAPS, CONF, (object) => object === undefined);
    await untilObject(fleet.hub, RESOURCE_BINDINGS, BINDING, (binding) => binding === undefined);
    const works = (await fleet.hub.resource(WORKS).list()).items.map(({ metadata }) => metadata.name);
    assert.deepEqual(works, ['wheel-widget']);
    assert.equal((await fleet.hub.resource(DEPLOYMENTS).get(WEB)).spec?.replicas, 7);
    assert.ok(await fleet.hub.resource(NAMESPACES).get({ name: 'demo' }));
  });

  test('a binding from when its template stood beside it loses the owner', async () => {
    const ref = { name: 'wheel-widget' };
    const ownerReferences = [{ apiVersion: 'example.com/v1', kind: 'Widget', name: 'native', uid: await nativeUid() }];
    await fleet.hub
      .resource(CLUSTER_RESOURCE_BINDINGS)
      .patch(ref, { type: 'merge', body: { metadata: { ownerReferences } } });
    await fleet.stop();
    await fleet.run();
    await untilObject(
      fleet.hub,
      CLUSTER_RESOURCE_BINDINGS,
      ref,
      (binding) => binding !== undefined && binding.metadata.ownerReferences === undefined,
    );
  });

  const nativeUid = async () => (await fleet.hub.resource(CLUSTER_WIDGETS).get({ name: 'native' })).metadata?.uid ?? '';
});
