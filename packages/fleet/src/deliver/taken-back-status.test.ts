import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { type Deployment, DEPLOYMENTS, findCondition, type KubeObject, type ResourceType } from '@asterism/machinery';
import { CLUSTERS, PROPAGATION_POLICIES, type PropagationPolicy, RESOURCE_BINDINGS } from '../api/index.ts';
import { deployment } from '../place/testing/build.ts';
import { definitionOf, establish, WIDGETS as UNTYPED_WIDGETS } from './testing/custom-kind.ts';
import { Fleet } from './testing/fleet.ts';

interface Widget extends KubeObject {
  status?: { conditions?: { type: string; status: string }[] };
}

const WIDGETS: ResourceType<Widget> = UNTYPED_WIDGETS;
const WEB = { namespace: 'demo', name: 'web' };
const BINDING = { namespace: 'demo', name: 'web-deployment' };
const READY = [{ type: 'Ready', status: 'True' }];
const REPLICAS = 2;

/** A status must have conditions where there is one. */
const WIDGET_VERSION = {
  subresources: { status: {} },
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        status: { type: 'object', required: ['conditions'], 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
};

const available = (object: Deployment | undefined) => findCondition(object?.status?.conditions, 'Available');
const isTakenBack = (object: Deployment | undefined): boolean =>
  available(object)?.reason === 'NotPlaced' && object?.status?.readyReplicas === undefined;
const ofTemplate = (write: string): boolean => write.endsWith('/deployments/web/status');
const ofBinding = (write: string): boolean => write.endsWith('/resourcebindings/web-deployment');

describe('what a template was told', () => {
  let fleet: Fleet;
  beforeEach(async () => {
    const serves = ['apps/v1/Deployment', 'example.com/v1/Widget'];
    fleet = await Fleet.start({ ant: { serves } }, { timing: { coalesceMs: 0 } });
    for (const client of [fleet.hub, fleet.member('ant')])
      await establish(client, definitionOf(WIDGETS, WIDGET_VERSION));
    await fleet.run();
  });
  afterEach(() => fleet[Symbol.asyncDispose]());

  const place = (spec: Partial<PropagationPolicy['spec']> = {}) =>
    fleet.hub.resource(PROPAGATION_POLICIES).create({
      apiVersion: 'asterism.dev/v1alpha1',
      kind: 'PropagationPolicy',
      metadata: WEB,
      spec: {
        resourceSelectors: [
          { apiVersion: 'apps/v1', kind: 'Deployment' },
          { apiVersion: 'example.com/v1', kind: 'Widget' },
        ],
        ...spec,
      },
    });
  const unplace = () => fleet.hub.resource(PROPAGATION_POLICIES).delete(WEB);

  async function create(): Promise<void> {
    const { uid: _, ...metadata } = deployment(REPLICAS).metadata ?? {};
    await fleet.hub.resource(DEPLOYMENTS).create({ ...deployment(REPLICAS), metadata } as Deployment);
    await fleet.hub.resource(WIDGETS).create({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: WEB });
  }

  /** Resolves when all stands in the member, works there, and the templates say so. */
  async function settle(): Promise<void> {
    const counters = { replicas: REPLICAS, updatedReplicas: REPLICAS, readyReplicas: REPLICAS };
    await report(DEPLOYMENTS, {
      ...counters,
      availableReplicas: REPLICAS,
      conditions: [{ type: 'Available', status: 'True' }],
    });
    await report(WIDGETS, { conditions: READY });
    await untilObject(fleet.hub, DEPLOYMENTS, WEB, (object) => available(object)?.status === 'True');
    await untilObject(fleet.hub, WIDGETS, WEB, (object) => object?.status?.conditions?.[0]?.status === 'True');
  }

  async function report<T extends KubeObject>(type: ResourceType<T>, status: object): Promise<void> {
    const live = await untilObject(fleet.member('ant'), type, WEB, (object) => object !== undefined);
    const value = { observedGeneration: live?.metadata?.generation, ...status };
    const body = [{ op: 'add', path: '/status', value }];
    await fleet.member('ant').resource(type).patch(WEB, { type: 'json', body }, { subresource: 'status' });
  }

  const takenBack = async (): Promise<void> => {
    await untilObject(fleet.hub, DEPLOYMENTS, WEB, isTakenBack);
    await untilObject(fleet.hub, WIDGETS, WEB, (object) => object !== undefined && object.status === undefined);
  };
  const bindingGone = () => untilObject(fleet.hub, RESOURCE_BINDINGS, BINDING, (binding) => binding === undefined);

  test('that it is available is not said of what no cluster is there for', async () => {
    await create();
    await place({ placement: { clusterAffinity: { clusterNames: ['nobody'] } } });
    const told = await untilObject(fleet.hub, DEPLOYMENTS, WEB, (object) => available(object) !== undefined);
    assert.equal(available(told)?.status, 'False');
    assert.equal(
      available(told)?.message,
      'Deployment is placed nowhere: `aster why deployment/web -n demo` tells why.',
    );
  });

  test('is taken back when its only cluster is gone', async () => {
    await create();
    await place();
    await settle();
    await fleet.hub.resource(CLUSTERS).delete({ name: 'ant' });
    await takenBack();
  });

  test('is taken back in one write when its policy goes, before its binding does', async () => {
    await create();
    await place();
    await settle();
    fleet.writes.length = 0;
    await unplace();
    await bindingGone();
    assert.ok(isTakenBack(await fleet.hub.resource(DEPLOYMENTS).get(WEB)));
    await takenBack();
    assert.equal(fleet.writes.filter(ofTemplate).length, 1);
  });

  test('is taken back where objects stay in the members too', async () => {
    await create();
    await place({ preserveResourcesOnDeletion: true });
    await settle();
    await unplace();
    await bindingGone();
    await takenBack();
    assert.equal((await fleet.member('ant').resource(DEPLOYMENTS).get(WEB)).status?.readyReplicas, REPLICAS);
  });

  test('is not touched when the template itself goes', async () => {
    await create();
    await place();
    await settle();
    const body = { metadata: { finalizers: ['example.com/slow'] } };
    await fleet.hub.resource(DEPLOYMENTS).patch(WEB, { type: 'merge', body });
    fleet.writes.length = 0;
    await fleet.hub.resource(DEPLOYMENTS).delete(WEB);
    await bindingGone();
    assert.deepEqual(fleet.writes.filter(ofTemplate), []);
  });

  for (const { name, isCut, writes } of [
    { name: 'before it is', isCut: ofTemplate, writes: 1 },
    { name: 'between that and the end of the binding', isCut: ofBinding, writes: 0 },
  ]) {
    test(`is taken back by the next hub where one is killed ${name}`, async () => {
      await create();
      await place();
      await settle();
      const cut = Promise.withResolvers<void>();
      let isUp = true;
      fleet.before = (write) => {
        if (isUp && (!isCut(write) || !write.startsWith('hub PATCH'))) return Promise.resolve();
        isUp = false;
        cut.resolve();
        return Promise.reject(new Error('the hub was killed'));
      };
      await unplace();
      await cut.promise;
      await fleet.stop();
      fleet.before = undefined;
      const left = await fleet.hub.resource(RESOURCE_BINDINGS).get(BINDING);
      assert.notEqual(left.metadata.deletionTimestamp, undefined);
      fleet.writes.length = 0;
      await fleet.run();
      await bindingGone();
      await takenBack();
      assert.equal(fleet.writes.filter(ofTemplate).length, writes);
    });
  }
});
