import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import type { Client } from '@asterism/client';
import { isConditionTrue, type KubeObject, NAMESPACES, type ResourceType } from '@asterism/machinery';
import { CLUSTER_PROPAGATION_POLICIES, CLUSTER_RESOURCE_BINDINGS, RESOURCE_BINDINGS } from '../api/index.ts';
import { definitionOf, establish, WIDGETS as UNTYPED_WIDGETS } from './testing/custom-kind.ts';
import { Fleet } from './testing/fleet.ts';

interface Widget extends KubeObject {
  status?: { phase?: string; observedGeneration?: number; conditions?: { type: string; status: string }[] };
}

const CONDITIONS = {
  type: 'array',
  items: {
    type: 'object',
    required: ['type', 'status'],
    properties: { type: { type: 'string' }, status: { type: 'string' }, message: { type: 'string' } },
  },
};

/** Of a kind whose status tells how it is, and must say what `requires` names. */
function versionOf(requires: string[] = []) {
  const status = {
    type: 'object',
    ...(requires.length > 0 ? { required: requires } : {}),
    properties: { phase: { type: 'string' }, observedGeneration: { type: 'integer' }, conditions: CONDITIONS },
  };
  const spec = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    subresources: { status: {} },
    schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
  };
}

const WIDGETS: ResourceType<Widget> = UNTYPED_WIDGETS;
/** Its status must have a phase. */
const GADGETS: ResourceType<Widget> = { ...WIDGETS, resource: 'gadgets', kind: 'Gadget' };
const REF = { namespace: 'demo', name: 'one' };
const NAMES = ['ant', 'bee'] as const;

async function define(client: Client): Promise<void> {
  await establish(client, definitionOf(WIDGETS, versionOf()));
  await establish(client, definitionOf(GADGETS, versionOf(['phase'])));
}

describe('status of a kind that nothing is known of', () => {
  let fleet: Fleet;
  before(async () => {
    const serves = ['example.com/v1/Widget', 'example.com/v1/Gadget', 'v1/Namespace'];
    fleet = await Fleet.start({ ant: { serves }, bee: { serves } }, { timing: { coalesceMs: 0 } });
    await Promise.all([fleet.hub, ...NAMES.map((name) => fleet.member(name))].map(define));
    await fleet.run();
    const kinds = ['Widget', 'Gadget'].map((kind) => ({ apiVersion: 'example.com/v1', kind }));
    await fleet.hub.resource(CLUSTER_PROPAGATION_POLICIES).create({
      apiVersion: 'asterism.dev/v1alpha1',
      kind: 'ClusterPropagationPolicy',
      metadata: { name: 'all' },
      spec: { resourceSelectors: [...kinds, { apiVersion: 'v1', kind: 'Namespace', name: 'demo' }] },
    });
  });
  after(() => fleet[Symbol.asyncDispose]());

  /** What its controller in a member would write. */
  async function report(name: string, type: ResourceType<Widget>, ready: string, phase: string): Promise<void> {
    const widgets = fleet.member(name).resource(type);
    const member = await untilObject(fleet.member(name), type, REF, (object) => object !== undefined);
    const conditions = [{ type: 'Ready', status: ready }];
    const value = { observedGeneration: member?.metadata?.generation, phase, conditions };
    await widgets.patch(
      REF,
      { type: 'json', body: [{ op: 'add', path: '/status', value }] },
      { subresource: 'status' },
    );
  }

  const healthOf = (type: ResourceType<Widget>, health: Readonly<Record<string, string>>) =>
    untilObject(fleet.hub, RESOURCE_BINDINGS, { ...REF, name: `one-${type.kind.toLowerCase()}` }, (binding) =>
      NAMES.every((name) =>
        binding?.status?.aggregatedStatus?.some((item) => item.clusterName === name && item.health === health[name]),
      ),
    );

  test('by its conditions: into the binding, and merged into the template', async () => {
    const metadata = REF;
    await fleet.hub.resource(WIDGETS).create({ apiVersion: 'example.com/v1', kind: 'Widget', metadata });
    await report('ant', WIDGETS, 'True', 'Good');
    await report('bee', WIDGETS, 'False', 'Bad');
    await healthOf(WIDGETS, { ant: 'Healthy', bee: 'Unhealthy' });
    const unready = await untilObject(fleet.hub, WIDGETS, REF, (object) => object?.status?.conditions !== undefined);
    assert.equal(isConditionTrue(unready?.status?.conditions, 'Ready'), false);
    await report('bee', WIDGETS, 'True', 'Good');
    await healthOf(WIDGETS, { ant: 'Healthy', bee: 'Healthy' });
    const ready = await untilObject(fleet.hub, WIDGETS, REF, (object) =>
      isConditionTrue(object?.status?.conditions, 'Ready'),
    );
    const conditions = [{ type: 'Ready', status: 'True' }];
    assert.deepEqual(ready?.status, { phase: 'Good', observedGeneration: 1, conditions });
  });

  test('what the template’s definition does not take is told by the binding alone, and offered once', async () => {
    const metadata = REF;
    await fleet.hub.resource(GADGETS).create({ apiVersion: 'example.com/v1', kind: 'Gadget', metadata });
    await report('ant', GADGETS, 'True', 'Good');
    await report('bee', GADGETS, 'False', 'Bad');
    await healthOf(GADGETS, { ant: 'Healthy', bee: 'Unhealthy' });
    const offered = (): string[] =>
      fleet.writes.filter((write) => write.endsWith('/gadgets/one/status') && !write.includes('works'));
    const before = offered().length;
    // A change of the policy goes through all of it again, and the last Work that it brings tells that it has.
    const body = [{ op: 'add', path: '/spec/preserveResourcesOnDeletion', value: true }];
    await fleet.hub.resource(CLUSTER_PROPAGATION_POLICIES).patch({ name: 'all' }, { type: 'json', body });
    await untilObject(
      fleet.hub,
      RESOURCE_BINDINGS,
      { ...REF, name: 'one-gadget' },
      (binding) =>
        binding?.spec.preserveResourcesOnDeletion === true &&
        binding.status?.observedGeneration === binding.metadata.generation,
    );
    assert.equal(offered().length, before);
    await report('bee', GADGETS, 'True', 'Good');
    await untilObject(fleet.hub, GADGETS, REF, (object) => object?.status?.phase === 'Good');
  });

  test('a Namespace is told by the binding, and its own status is left to the API server', async () => {
    await untilObject(fleet.hub, CLUSTER_RESOURCE_BINDINGS, { name: 'demo-namespace' }, (binding) =>
      NAMES.every((name) =>
        binding?.status?.aggregatedStatus?.some((item) => item.clusterName === name && item.health === 'Healthy'),
      ),
    );
    const { status } = await fleet.hub.resource(NAMESPACES).get({ name: 'demo' });
    assert.deepEqual(status, { phase: 'Active' });
    assert.deepEqual(
      fleet.writes.filter((write) => write.includes('namespaces/demo/status')),
      [],
    );
  });
});
